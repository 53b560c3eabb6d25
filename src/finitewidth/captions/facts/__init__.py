"""What captions say of a run: for each artifact a pure function from its tables to named facts.

``finitewidth.captions.facts.<paper>.<artifact>``; an artifact whose caption speaks of no result has
none. Facts are numbers, texts, truth values and lists; a pair of numbers is a range, smallest and
largest. A fact is None where the tables lack the rows for it, for example at settings with a single
width; templates print such facts behind a condition only.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

Tables = Mapping[str, "pd.DataFrame"]


def module_of(paper: str) -> str | None:
    """The module with the facts of a paper's captions; None if there is none.

    It is not imported, so the start of a run does not wait for pandas.
    """
    name = f"finitewidth.captions.facts.{paper}"
    return name if find_spec(name) else None


def function_of(artifact: str) -> Callable[[Tables], dict[str, Any]] | None:
    """The function that computes the facts of an artifact, if its caption needs any."""
    module = module_of(artifact.partition("_")[0])
    return getattr(import_module(module), artifact, None) if module else None


def facts_of(artifact: str, tables: Tables) -> dict[str, Any]:
    """The facts of an artifact, from its input tables by their names."""
    function = function_of(artifact)
    return function(tables) if function else {}
