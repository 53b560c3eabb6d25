"""Experiments of the neural path feature paper (npf) and its earlier version (npf0)."""
