"""Load the results of the papers in Python."""

from pathlib import Path

from finitewidth.common.errors import ConfigError
from finitewidth.library.loaded import Loaded


def load(name: str, run: str = "quick", project: str | Path | None = None) -> Loaded:
    """Load a result of the papers with its meaning, as a run of the workflow has made it.

    It computes nothing. It needs a clone of the project and, beside the packages of the library,
    those of the workflow. The file must be what its job has written.

    Args:
        name: a figure or table (``npf_fig3``), an experiment that has one table
            (``thesis_classical``), one of its tables (``npf_nu.curves``) or its ``weights``, or a
            claim (``N07``).
        run: the folder of the run below ``results``: a preset, ``quick-seed1`` or the name of a
            run of your own.
        project: the folder of the clone; by default the current folder, or the nearest above it
            that is one.

    Returns:
        The ``rows``, the meanings of their ``columns``, the ``provenance``, and further attributes.

    Raises:
        ConfigError: a name is unknown, there is no project, or a package is not installed.
        ResultError: the result has not been made, or its file was altered.

    Examples:
        >>> import finitewidth as fw
        >>> figure = fw.load("npf_fig3")  # doctest: +SKIP
        >>> figure.columns["nu"].meaning  # doctest: +SKIP
        >>> figure.rows.groupby("panel")["nu"].max()  # doctest: +SKIP
    """
    try:
        from finitewidth.library.project_results import ProjectResults
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "finitewidth":
            raise
        raise ConfigError(
            f"{error.name} is not installed; load needs more packages than the rest of the "
            "library: pip install 'finitewidth[papers]'"
        ) from error
    return ProjectResults(run, project).load(name)
