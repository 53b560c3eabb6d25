"""Experiments: pure functions of (settings, data, seed) to tidy tables, one folder per paper."""
