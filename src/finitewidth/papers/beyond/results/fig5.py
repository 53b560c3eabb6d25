"""What Figure 5 of beyond shows: the order of the limits, and the corrected over the printed."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.papers.beyond.results.words import LAMBDA, at_largest, span


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say whether limits at the edge rise to the chaotic one, and how far the printed are off."""
    last = at_largest(rows[rows["form"] == "corrected"], "depth_over_width")
    end = last["depth_over_width"].iloc[0]
    return (
        f"{order(rows)}; at {LAMBDA} = {end:g} the corrected limits are "
        f"{span(last['over_printed'])} times the printed ones."
    )


def order(rows: pd.DataFrame) -> str:
    """Say in which form of the theorem the limits have the order that the paper sees."""
    forms = [form for form in ("printed", "corrected") if rises(rows[rows["form"] == form])]
    whether = "in neither form of the theorem"
    if len(forms) == 2:
        whether = "both as printed and as corrected"
    elif forms:
        whether = f"as {forms[0]} only"
    return (
        "The paper sees the limits of Theorem 3.1 for the NTK's dispersion at the edge of chaos "
        "rise towards that of the chaotic phase as the input dimension falls; they do so "
        f"{whether}"
    )


def rises(rows: pd.DataFrame) -> bool:
    """Whether limits at the edge rise as alpha_0 falls, and stay below the chaotic one."""
    curves = rows[rows["depth_over_width"] > 0]
    edge = curves[curves["phase"] == "critical"]
    table = edge.pivot(index="depth_over_width", columns="alpha_0", values="dispersion")
    chaotic = curves[curves["phase"] == "chaotic"].groupby("depth_over_width")["dispersion"].max()
    falling = table.sort_index(axis=1).diff(axis=1).iloc[:, 1:] < 0
    below = table.max(axis=1) < chaotic.reindex(table.index)
    return bool(falling.to_numpy().all() and below.all())
