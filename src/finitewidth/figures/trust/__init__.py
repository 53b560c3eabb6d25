"""Figures of ``trust``."""
