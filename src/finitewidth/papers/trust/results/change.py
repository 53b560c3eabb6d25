"""What trust Figures 3 and 4 show: change of the kernel and loss in both phases."""

import pandas as pd

from finitewidth.papers.trust.figures.change import EndLook
from finitewidth.papers.trust.figures.looks import NAMES
from finitewidth.papers.trust.results import words


def result(rows: pd.DataFrame, settings: EndLook) -> str:
    """Compare ordered with chaotic networks at the largest depth, and shallow ones with 1."""
    changes = words.deepest(words.known_cells(rows, "change"))
    losses = words.deepest(words.known_cells(rows, "lowest_loss"))
    shallow = _shallow(words.known_cells(rows, "lowest_loss"))
    if changes.empty or losses.empty:
        return f"No depth has trained networks of both phases, to be compared. {shallow}".strip()
    ordered_change = words.of_phase(changes, "ordered")
    chaotic_change = words.of_phase(changes, "chaotic")
    ordered_loss = words.of_phase(losses, "ordered")
    chaotic_loss = words.of_phase(losses, "chaotic")
    more_change = chaotic_change.mean() > ordered_change.mean()
    less_loss = chaotic_loss.mean() < ordered_loss.mean()
    name = NAMES[rows["activation"].iloc[0]]
    return (
        f"At depth {changes['depth'].iloc[0]:g}, the largest, ordered {name} networks change their "
        f"kernel by {words.span(ordered_change)} and chaotic ones by {words.span(chaotic_change)} "
        f"of its norm, and reach {words.span(ordered_loss)} and {words.span(chaotic_loss)} of "
        f"{words.CONSTANT} {words.sure(changes)}{_order(more_change, less_loss)}. {shallow}"
    ).strip()


def _order(more_change: bool, less_loss: bool) -> str:
    """Whether chaotic networks change more and reach a smaller loss, as the paper observes."""
    if more_change and less_loss:
        return ": chaotic ones change more and reach a smaller loss, as the paper observes"
    if more_change:
        return ": chaotic ones change more, as the paper observes, but do not reach a smaller loss"
    if less_loss:
        return ": chaotic ones reach a smaller loss, as the paper observes, but do not change more"
    return ": chaotic ones neither change more nor reach a smaller loss, against the paper"


def _shallow(losses: pd.DataFrame) -> str:
    """How low the loss comes at all, and where the shallowest networks stay above a constant's."""
    if losses.empty:
        return "No network reached a finite loss."
    first = losses[losses["depth"] == losses["depth"].min()]
    above = int((first["value"] > 1).sum())
    lowest = words.short(losses["value"].min())
    sentence = f"No cell comes below {lowest} of {words.CONSTANT}"
    if not above:
        return f"{sentence}."
    return (
        f"{sentence}, and at depth {first['depth'].iloc[0]:g}, {above} of {len(first)} cells stay "
        "above it, although the paper has deep networks untrainable, not shallow ones."
    )
