"""Finite-width neural networks: the tables and figures of five papers, regenerated."""
