"""Datasets: bundled ones and the originals, each stored as one verified ``.npz`` file."""
