"""Figures of ``beyond``."""
