"""Modules that all other packages use: errors, progress, numbers in words, torch, the machine."""
