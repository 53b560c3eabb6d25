"""Made-up rows for the claims of dgn on what can be listed."""

import pandas as pd


def circular(change=0.0):
    """Two inputs, one layer with both taps: 4 paths, 2 strengths, two paths each."""
    connections = pd.DataFrame({"layer": 1, "start": [1, 2, 1, 2], "end": [1, 2, 2, 1],
                                "tap": [1, 1, 2, 2]})  # fmt: skip
    paths = pd.DataFrame({"path": [1, 2, 3, 4], "bundle": [1, 1, 2, 2]})
    rows = [
        {"gating": 0, "s": s, "s_prime": other, "shift": shift, "pooled": value, "lemma": value}
        for s in (1, 2) for other in (1, 2) for shift in (0, 1)
        for value in (2.0 + s * other + change * shift,)
    ]  # fmt: skip
    kernel = pd.DataFrame(rows)
    return {"connections": connections, "paths": paths, "kernel": kernel}


ROWS = {
    "D25": (circular, lambda: circular(change=0.1)),
}
