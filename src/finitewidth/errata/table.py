"""All errata of the papers, each computed: printed, corrected and true value side by side."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.errata import beyond, collapse, dgn, npf, thesis, trust
from finitewidth.errata.erratum import Erratum, outcome

ERRATA: tuple[Erratum, ...] = (
    *npf.ERRATA,
    *dgn.ERRATA,
    *trust.ERRATA,
    *beyond.ERRATA,
    *thesis.ERRATA,
    *collapse.ERRATA,
)


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Every erratum with what its check finds.

    Args:
        inputs: none.
        settings: ``networks``, how many small networks a check draws (wide ones are fewer).

    Returns:
        ``errata``: id, paper, place, kind, printed, corrected, evidence; quantity, truth,
        truth_error, printed_value, corrected_value (empty where nothing is computed); outcome.
    """
    return {"errata": pd.DataFrame([row(erratum, settings["networks"]) for erratum in ERRATA])}


def row(erratum: Erratum, networks: int) -> dict[str, Any]:
    """One line of the table; ``networks`` to draw where something is drawn."""
    found = erratum.computed(networks)
    names = ("id", "paper", "place", "kind", "printed", "corrected", "evidence")
    numbers = (
        (None,) * 5
        if found is None
        else (found.quantity, found.truth, found.truth_error, found.printed, found.corrected)
    )
    values = ("quantity", "truth", "truth_error", "printed_value", "corrected_value")
    return (
        {name: getattr(erratum, name) for name in names}
        | dict(zip(values, numbers, strict=True))
        | {"outcome": outcome(found)}
    )
