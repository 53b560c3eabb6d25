"""References to the tables of jobs, such as ``npf_regimes.runs``.

This module uses only the standard library.
"""

WEIGHTS = "weights"  # what a job makes under this name are arrays, not a table


def table_file(reference: str) -> str:
    """Return the path of a table's file below the results folder of a preset.

    A table is a CSV file. What is called ``weights`` is an ``.npz`` file of arrays. For example, it
    is ``npf/experiments/regimes_runs.csv`` for ``npf_regimes.runs`` and
    ``errata/experiments/errata.csv`` for ``errata.errata``.
    """
    job, table = reference.split(".")
    paper, _, name = job.partition("_")
    suffix = "npz" if table == WEIGHTS else "csv"
    return f"{paper}/experiments/{f'{name}_' if name else ''}{table}.{suffix}"
