"""E-NPF-STAGE: how good gates are that were learnt for ever longer (npf Figure 3, left)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.measures.accuracy import mean_and_spread, scores_by_replica


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Accuracy of FLNPF at every stage, and the lines it is held against.

    Args:
        inputs: ``frozen``, the history of FRNPF (stage 0) and FLNPF (later stages);
            ``table2``, the rows of `finitewidth.experiments.npf.table2`; ``reported_npf``.
        settings: ``network``, ``optimiser`` (which row of Table 2 the ReLU line is), ``ddof``,
            ``select``.

    Returns:
        ``runs``: accuracies by stage and seed. ``curves``: rows (panel, series, x, y, spread,
        runs), y as fractions; a reference line has no x.
    """
    runs = scores_by_replica(inputs["frozen"])
    runs = runs[runs["diverged"] == 0]
    rows = []
    for stage, group in runs.groupby("stage"):
        mean, spread = mean_and_spread(group[settings["select"]], settings["ddof"])
        rows.append(_point("FLNPF", mean, int(stage), spread, len(group)))
    frnpf = rows[0]
    rows.append(_point("FRNPF", frnpf["y"], runs=frnpf["runs"]))
    table2, name = inputs["table2"], f"{settings['network']}_{settings['optimiser']}"
    relu = table2[
        (table2["paper"] == "npf") & (table2["row"] == name) & (table2["regime"] == "relu")
    ].iloc[0]
    rows.append(_point("ReLU", relu[f"{settings['select']}_mean"] / 100, runs=relu["runs"]))
    printed = inputs["reported_npf"]
    cntk = printed[(printed["artifact"] == "npf_fig3") & (printed["column"] == "cntk")].iloc[0]
    rows.append(_point("CNTK on CIFAR-10, as printed", float(cntk["value"]) / 100))
    return {"runs": runs.drop(columns="row"), "curves": pd.DataFrame(rows)}


def _point(
    series: str,
    y: float,
    x: int | None = None,
    spread: float | None = None,
    runs: int | None = None,
) -> dict[str, Any]:
    return {"panel": "stages", "series": series, "x": x, "y": y, "spread": spread, "runs": runs}
