"""What the workflow says of this run to the terminal: its jobs, and where their results are.

Snakemake starts its logger before it reads the workflow. The workflow then puts its own functions
and folders in place of those here.
"""

from collections.abc import Callable, Mapping, Sequence

from finitewidth.pipeline.runs.schedule import Step


def _no_reasons(job: str) -> Sequence[str]:
    return ()


forecast: Callable[[], Mapping[str, Step]] = dict
"""Job that has to run -> what is known of it."""

reasons: Callable[[str], Sequence[str]] = _no_reasons
"""Job -> why it runs again, in words; nothing of results that are not made yet."""

packages: Callable[[], Mapping[str, int]] = dict
"""Package with its versions then and now -> number of jobs whose results are kept all the same."""

folders: tuple[str, ...] = ()
"""The folders of the results, and of the datasets."""

report: str = ""
"""The first page of the report."""
