"""Datasets: bundled stand-ins and the originals, each reduced to one verified ``.npz``."""
