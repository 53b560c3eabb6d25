"""Experiments of the deep gated networks paper (dgn)."""
