"""Which formula belongs to which job."""

from collections.abc import Mapping
from typing import Any

from finitewidth.pipeline.costs import concepts, full_batch, kernels, theory
from finitewidth.pipeline.costs.work import Work

EXPERIMENTS = {
    **kernels.EXPERIMENTS,
    **full_batch.EXPERIMENTS,
    **theory.EXPERIMENTS,
    **concepts.EXPERIMENTS,
}


def experiment(rule: str, config: Mapping[str, Any]) -> Work:
    """Work of the experiment that a rule runs.

    Raises:
        KeyError: no formula; tests/unit/test_costs.py demands one of every experiment.
    """
    return EXPERIMENTS[rule](config)
