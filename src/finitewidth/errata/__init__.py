"""Errata of the papers: classes, sources, and a computation where one is possible."""
