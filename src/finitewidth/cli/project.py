"""The folder of the project, in which all commands work."""

from pathlib import Path

from finitewidth.common.errors import ConfigError
from finitewidth.pipeline.runs import surroundings


def find_project(start: Path, given: Path | None = None) -> Path:
    """Return the folder of the project: ``given``, or ``start`` or a folder above it.

    Raises:
        ConfigError: there is none, or it is not the one that this package belongs to.
    """
    folders = (start.resolve(), *start.resolve().parents) if given is None else (given.resolve(),)
    for folder in folders:
        if (folder / "Snakefile").exists() and (folder / "workflow/papers").exists():
            surroundings.refuse_other_package(folder)
            return folder
    raise ConfigError(
        f"{given or start} has no Snakefile and workflow/papers, so it is no clone "
        "of finitewidth; go to one, or name it with --project DIR"
    )
