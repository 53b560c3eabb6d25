"""What collapse Table 1 shows: whether the printed decomposition of a block kernel is exact."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed, number


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compare ranks and powers with the printed multiplicities, and name the residual."""
    wrong = []
    for row in rows.to_dict("records"):
        classes = row["classes"]
        stated = _multiplicity(row["component"], classes, row["samples"])
        small = _multiplicity(row["component"], row["small_classes"], row["small_samples"])
        if row["residual"] != 0 or row["rank"] != stated or row["power"] != small:
            wrong.append(row["component"])
    residual = number(rows["residual"].max(), 3)
    first = rows.iloc[0]
    size = f"{first['classes']} classes of {first['samples']} samples"
    if wrong:
        return (
            f"In exact arithmetic, for {size}, the printed decomposition of a kernel with class "
            f"blocks fails for the component {listed(wrong)} (largest $|K v - \\lambda v|$: "
            f"{residual})."
        )
    vectors = listed(str(value) for value in rows["vectors"])
    ranks = listed(str(value) for value in rows["rank"])
    return (
        f"In exact arithmetic, for {size}, every printed vector of a kernel with class blocks is "
        f"an eigenvector of its printed eigenvalue, and of the {vectors} printed vectors {ranks} "
        "are independent, as the printed multiplicities say."
    )


def _multiplicity(component: str, classes: int, samples: int) -> int:
    """The printed multiplicity of a component: N - C, C - 1 or 1."""
    return {"single": classes * samples - classes, "class": classes - 1, "global": 1}[component]
