"""Figures of dgn."""
