"""Measures: from tensors and tables to numbers."""
