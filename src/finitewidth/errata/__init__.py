"""Errata: misprints in the papers, each with what shows it, computed."""
