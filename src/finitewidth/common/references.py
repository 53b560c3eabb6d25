"""References to the tables that jobs make, such as ``npf_regimes.runs``. Standard library only."""


def table_file(reference: str) -> str:
    """The CSV file of a table, below the folder of a preset's results.

    Args:
        reference: ``<job>.<table>``, where a job is ``<paper>_<name>`` or one word.

    Returns:
        ``npf/experiments/regimes_runs.csv`` for ``npf_regimes.runs``, and
        ``errata/experiments/errata.csv`` for ``errata.errata``.

    Raises:
        ValueError: the reference has not the form ``<job>.<table>``.
    """
    job, _, table = reference.partition(".")
    if not job or not table or "." in table:
        raise ValueError(f"{reference!r} is not of the form <job>.<table>")
    paper, _, name = job.partition("_")
    return f"{paper}/experiments/{f'{name}_' if name else ''}{table}.csv"
