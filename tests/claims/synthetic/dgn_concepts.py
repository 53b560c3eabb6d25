"""Made-up rows for the claims of dgn on what can be listed."""

import pandas as pd


def circular(change=0.0):
    """Two inputs, one layer with both taps: 4 paths, 2 strengths, two paths each."""
    connections = pd.DataFrame({"layer": 1, "start": [1, 2, 1, 2], "end": [1, 2, 2, 1],
                                "tap": [1, 1, 2, 2]})  # fmt: skip
    paths = pd.DataFrame({"path": [1, 2, 3, 4], "bundle": [1, 1, 2, 2]})
    values = [2.0, 2.0 + change]
    kernel = pd.DataFrame({"gating": 0, "s": 1, "s_prime": 1, "shift": [0, 1], "pooled": values,
                           "lemma": values})  # fmt: skip
    return {"connections": connections, "paths": paths, "kernel": kernel}


ROWS = {
    "D25": (circular, lambda: circular(change=0.1)),
}
