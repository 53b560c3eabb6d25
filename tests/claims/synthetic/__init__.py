"""For every judged claim rows that support it and rows that contradict it, made up by hand.

One module per paper with ``ROWS``: claim id -> (supporting, contradicting), both functions without
arguments that return the tables the claim reads, by name; and ``INVARIANT``: claim id -> the
perturbations of test_perturbed after which rows support it all the same, and why.
"""

from zlib import crc32

import numpy as np


def jitter(*key):
    """A standard normal number that depends on the key alone: runs must not be all alike."""
    return float(np.random.default_rng(crc32(repr(key).encode())).normal())
