"""Captions: what an artifact shows, the verdicts on the claims it carries, and its footer."""
