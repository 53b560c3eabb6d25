"""Errata: misprints in the papers, each with a computation that shows it."""
