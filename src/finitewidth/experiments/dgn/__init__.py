"""Experiments of deep gated networks."""
