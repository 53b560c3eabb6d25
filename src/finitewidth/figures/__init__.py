"""Figures: one renderer per figure; a renderer draws rows and computes nothing."""
