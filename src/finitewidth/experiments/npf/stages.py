"""Accuracy with gates learnt for different times, job `npf_stages` (npf Figure 3, left)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.measures.accuracy import averaged, scores_by_replica


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Accuracy of FLNPF at every stage, and its reference lines.

    Args:
        inputs: ``frozen``, the history of FRNPF (stage 0) and FLNPF (later stages); ``regimes``,
            the rows of `finitewidth.experiments.npf.regimes`; ``reported_npf``.
        settings: ``network`` and ``optimiser`` (the row of Table 2 for the ReLU line), ``ddof``,
            ``select``.

    Returns:
        ``runs``: accuracies by stage and seed, and whether the run diverged.
        ``curves``: panel, series, x, y, spread, runs, failed; y is a fraction, and a reference line
        has no x. Diverged runs are counted in ``failed`` and excluded from everything else.
    """
    runs = scores_by_replica(inputs["frozen"])
    sound = runs[settings["select"]].where(runs["diverged"] == 0)
    points = {
        int(stage): averaged(values, settings["ddof"])
        for stage, values in sound.groupby(runs["stage"])
    }
    rows = [_row("FLNPF", point, stage) for stage, point in points.items()]
    rows.append(_row("FRNPF", {**points[0], "spread": None}))
    regimes, name = inputs["regimes"], f"{settings['network']}_{settings['optimiser']}"
    relu = regimes[
        (regimes["paper"] == "npf") & (regimes["row"] == name) & (regimes["regime"] == "relu")
    ].iloc[0]
    height = relu[f"{settings['select']}_mean"] / 100
    rows.append(_row("ReLU", {"y": height, "runs": relu["runs"], "failed": relu["diverged"]}))
    printed = inputs["reported_npf"]
    cntk = printed[(printed["artifact"] == "npf_fig3") & (printed["column"] == "cntk")].iloc[0]
    rows.append(_row("CNTK on CIFAR-10, as printed", {"y": float(cntk["value"]) / 100}))
    return {"runs": runs.drop(columns="row"), "curves": pd.DataFrame(rows)}


def _row(series: str, point: Mapping[str, Any], stage: int | None = None) -> dict[str, Any]:
    missing = dict.fromkeys(("y", "spread", "runs", "failed"))
    return {"panel": "stages", "series": series, "x": stage, **missing, **point}
