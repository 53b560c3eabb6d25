"""References to the tables of jobs, such as ``npf_regimes.runs``.

This module uses only the standard library.
"""

WEIGHTS = "weights"  # what a job makes under this name are arrays, not a table


def table_file(reference: str) -> str:
    """Return the path of a table's file below the results folder of a preset.

    A table is a CSV file. What is called ``weights`` is an ``.npz`` file of arrays.

    Args:
        reference: ``<job>.<table>``, where the job is ``<paper>_<name>`` or one word.

    Returns:
        For example, ``npf/experiments/regimes_runs.csv`` for ``npf_regimes.runs`` and
        ``errata/experiments/errata.csv`` for ``errata.errata``.

    Raises:
        ValueError: the reference does not have the form ``<job>.<table>``.
    """
    job, _, table = reference.partition(".")
    if not job or not table or "." in table:
        raise ValueError(f"reference {reference!r} is not of the form <job>.<table>")
    paper, _, name = job.partition("_")
    suffix = "npz" if table == WEIGHTS else "csv"
    return f"{paper}/experiments/{f'{name}_' if name else ''}{table}.{suffix}"
