"""Figures of deep gated networks."""
