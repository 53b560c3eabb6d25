"""Modules that all other packages use: errors, settings, declarations, result files, provenance."""
