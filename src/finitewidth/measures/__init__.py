"""Functions that compute numbers from tensors and tables."""
