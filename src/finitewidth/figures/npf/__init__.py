"""Figures of npf and npf0."""
