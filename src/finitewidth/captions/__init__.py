"""Captions: templates filled with facts that are computed from the tables of a run."""
