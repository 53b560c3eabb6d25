"""Experiments of the neural path feature paper (npf) and of its earlier version (npf0)."""
