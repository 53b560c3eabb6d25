"""What trust Figures 8 to 11 show: change of the kernel with the steps, or with the width."""

import pandas as pd

from finitewidth.papers.trust.figures.change_panels import PanelsLook
from finitewidth.papers.trust.figures.looks import NAMES
from finitewidth.papers.trust.results import words


def result(rows: pd.DataFrame, settings: PanelsLook) -> str:
    """Compare both phases in the first and the last panel."""
    cells = words.known_cells(rows)
    return _with_steps(cells) if settings.by == "steps" else _with_width(cells)


def _with_steps(cells: pd.DataFrame) -> str:
    """The change after the first and the last number of steps, at the largest depth."""
    deep = words.deepest(cells)
    if deep.empty:
        return "No depth has trained networks of both phases, to be compared."
    first, last = deep["time"].min(), deep["time"].max()
    early, late = deep[deep["time"] == first], deep[deep["time"] == last]
    before = {phase: words.span(words.of_phase(early, phase)) for phase in words.PHASES}
    after = {phase: words.span(words.of_phase(late, phase)) for phase in words.PHASES}
    name = NAMES[deep["activation"].iloc[0]]
    sentence = (
        f"At depth {deep['depth'].iloc[0]:g} chaotic {name} networks have changed their kernel by "
        f"{before['chaotic']} of its norm after {first:,} steps and by {after['chaotic']} after "
        f"{last:,}, ordered ones by {before['ordered']} and by {after['ordered']} "
        f"{words.sure(late)}"
    )
    more = words.of_phase(early, "chaotic").mean() > words.of_phase(early, "ordered").mean()
    order = (
        "chaotic ones change more from the first steps on, as the paper observes"
        if more
        else "chaotic ones do not change more in the first steps, against the paper"
    )
    return f"{sentence}: {order}. {_early_share(early, late)}"


def _early_share(early: pd.DataFrame, late: pd.DataFrame) -> str:
    """The part of their last change that ordered networks make at once."""
    shares = []
    for cells in (early, late):
        ordered = cells[cells["phase"] == "ordered"]
        shares.append(ordered.set_index("sigma_w2")["value"])
    share = (shares[0] / shares[1])[shares[1] > 0].dropna()
    if share.empty:
        return "The ordered ones do not change at all."
    return (
        "The ordered ones, which the paper observes to change very little for a long time, have "
        f"made {words.percent([share.median()])} of their last change after "
        f"{early['time'].iloc[0]:,} steps (median of {len(share)} weight variances)."
    )


def _with_width(cells: pd.DataFrame) -> str:
    """The change of both phases at the smallest and at the largest width, mean over cells."""
    if not set(words.PHASES) <= set(cells["phase"]):
        return "There are no trained networks of both phases, to be compared."
    means = cells.pivot_table(index="width", columns="phase", values="value").sort_index()
    means = means.dropna(subset=list(words.PHASES))
    if len(means) < 2:
        return "Only one width has trained networks of both phases: nothing is seen of the width."
    narrow, wide = means.index[0], means.index[-1]
    goes = [
        f"{words.short(means[phase].iloc[0])} to {words.short(means[phase].iloc[-1])} in the "
        f"{phase} phase"
        for phase in words.PHASES
    ]
    ratios = means["chaotic"] / means["ordered"]
    smaller, pairs = _smaller_when_wider(cells)
    ratio = f"{words.span(ratios)} times that of ordered ones"
    name = NAMES[cells["activation"].iloc[0]]
    return (
        f"From width {narrow:g} to {wide:g} the change of the kernel of {name} networks, mean over "
        f"cells, goes from "
        f"{goes[0]} and from {goes[1]} {words.sure(cells)}. It is smaller at the wider of "
        f"two neighbouring widths in {smaller} of {pairs} cells (the paper: overall), and that of "
        f"chaotic networks is {ratio}, the least at width {ratios.idxmin():g}."
    )


def _smaller_when_wider(cells: pd.DataFrame) -> tuple[int, int]:
    """In how many cells the change falls from a width to the next, and the number of cells."""
    by_width = cells.pivot(index=["sigma_w2", "depth"], columns="width", values="value")
    steps = by_width.sort_index(axis=1).diff(axis=1).iloc[:, 1:]
    return int((steps < 0).to_numpy().sum()), int(steps.notna().to_numpy().sum())
