"""Results of an experiment's pieces of work, stored so that an interrupted job continues.

Trainings store their state (`finitewidth.training.loop`). Other long computations are a `map` over
pieces that do not depend on each other: blocks of a kernel, batches of runs, cells of a map. Their
results are stored as they come, and a restarted job computes only those that are missing. Every
piece draws from random streams of its own name, so results do not depend on where it stopped.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from finitewidth.common.progress import LOG, Progress
from finitewidth.training.checkpoints import Checkpoints

RESULTS = "results"  # the only entry of a checkpoint: number of a piece -> its result
PLAIN = (bool, int, float, str, type(None))


def stored_map(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    checkpoints: Checkpoints | None = None,
    part: str = "pieces",
    progress: bool = True,
) -> Iterator[Any]:
    """Do what ``map(function, items)`` does, and store the results in checkpoints.

    A checkpoint holds the results since the one before and is written at most every
    ``checkpoints.seconds``. All are kept until the run of the pipeline has ended. Results from
    damaged checkpoints are computed again, with a message in the log.

    Args:
        function: computes one piece. It must not depend on other pieces. Its result consists of
            tensors, plain values, lists, tuples and dictionaries; numpy's numbers become plain.
        items: arguments of the pieces. The settings of the experiment determine their order.
        checkpoints: of the experiment; None for none.
        part: what the pieces are, such as ``batches of runs``. It tells them from other pieces of
            the same experiment.
        progress: whether to show how many pieces are done; False if each shows its own progress.

    Yields:
        The results in the order of ``items``.

    Raises:
        ResultError: a checkpoint cannot be written.
        TypeError: a result has a part that cannot be stored.
    """
    items = list(items)
    store = checkpoints.store(part, keep_all=True) if checkpoints else None
    states = store.every() if store else []
    found = {place: result for state in states for place, result in state[RESULTS].items()}
    if found:
        LOG.info("%s: continuing after %d of %d pieces", part, len(found), len(items))
    shown = Progress(len(items), part, done=len(found)) if progress else None
    fresh: dict[int, Any] = {}
    for place, item in enumerate(items):
        if place in found:
            yield found.pop(place)
            continue
        result = plain(function(item))
        if shown:
            shown.advance()
        if store:
            fresh[place] = plain(result)  # a copy: who gets the result may change it
            if store.due():
                store.save({RESULTS: fresh})
                fresh = {}
        yield result
    if shown:
        shown.close()


def plain(value: Any) -> Any:
    """Copy a result, with numpy's numbers as Python's.

    Args:
        value: tensors, numbers, texts, None, and lists, tuples and dictionaries of them.

    Raises:
        TypeError: it contains something else, such as an array.
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    if hasattr(value, "detach"):  # a tensor; torch is not imported where it is not used
        return value.detach().cpu().clone()
    raise TypeError(f"the result of a piece contains {type(value).__name__}; return numbers, "
                    "texts, tensors, lists, tuples and dictionaries")  # fmt: skip
