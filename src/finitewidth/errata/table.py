"""All errata of the papers, each with its printed, corrected and true value."""

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
    """Compute every erratum.

    Args:
        inputs: none.
        settings: ``networks``, the number of small networks that a check draws. Checks with wide
            networks draw fewer.

    Returns:
        ``errata``: id, paper, place, kind, printed, corrected, evidence; quantity, truth,
        truth_error, printed_value, corrected_value (empty if nothing is computed); outcome.
    """
    return {"errata": pd.DataFrame([row(erratum, settings["networks"]) for erratum in ERRATA])}


def row(erratum: Erratum, networks: int) -> dict[str, Any]:
    """One row of the table; ``networks`` is the number of random networks of a check."""
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
