"""Claims of npf on the sizes of the kernels K^v and K^f: Figure 3, right."""

import numpy as np

from finitewidth.claims import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

SIZES = {"trace": "traces", "frobenius": "Frobenius norms"}
OURS = "the paper gives no factor; numbers of one scale are commonly within a factor of ten"


def n22(tables: Tables) -> list[Part]:
    """K^v and K^f are within a factor of ten of each other at every kept epoch."""
    runs = tables["kernels"]
    if runs.empty:
        raise CannotDecideError("no kernel was measured")
    parts = []
    for size, title in SIZES.items():
        ratios = np.log10(runs[f"{size}_kv"] / runs[f"{size}_kf"])
        for epoch, group in ratios.groupby(runs["epoch"]):
            name = f"epoch {epoch}: log10 of K^v / K^f, {title}"
            parts.append(samples.mean(name, group, low=-1, high=1, ours=OURS))
    return parts
