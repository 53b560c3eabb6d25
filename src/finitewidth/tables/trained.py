"""The mark of networks that are not trained, and the note below a table that explains it."""

from collections.abc import Iterable, Sequence

MARK = " †"


def marked(cell: str, trained: float) -> str:
    """Return the text of a cell, with a dagger if its network is not trained.

    Args:
        cell: the text.
        trained: 1 if all runs are trained, 0 if they are not (see
            `finitewidth.measures.accuracy.train_accuracies`).
    """
    return cell if trained else f"{cell}{MARK}"


def not_trained(trained: Iterable[float], thresholds: Sequence[float]) -> tuple[str, ...]:
    """Return the note that explains the mark; it is empty if all networks are trained.

    Args:
        trained: 1 or 0 of each network, as for `marked`.
        thresholds: train accuracies from which a run counts as trained, fractions.
    """
    if all(trained):
        return ()
    levels = " or ".join(f"{100 * level:g} %" for level in sorted(set(thresholds)))
    return (
        f"† not trained: the train accuracy stays below {levels} (our threshold) in at least one "
        "run",
    )
