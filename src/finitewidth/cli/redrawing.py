"""``finitewidth redraw``: a figure from its data file alone, for restyling what others computed."""

import json
from pathlib import Path

from finitewidth.cli.options import File
from finitewidth.common.declarations import artifacts_of, read_papers
from finitewidth.common.errors import ConfigError


def redraw(file: File, /, *, to: File) -> None:
    """Draw a figure from the CSV file that a run wrote.

    The data package beside the folder of figures says with which settings the figure was made.

    Example: finitewidth redraw results/quick/npf/figures/npf_fig3.csv --to figure.pdf

    Args:
        file: the CSV file
        to: PDF, SVG or PNG file to write

    Raises:
        ConfigError: the file belongs to no figure, or ``to`` has another suffix or is in no folder.
        ResultError: the file is missing, damaged or altered.
    """
    from finitewidth.figures import job

    figures = {a.artifact: a for a in artifacts_of(read_papers()) if a.kind == "figure" and a.done}
    if file.stem not in figures:
        raise ConfigError(f"{file}: {file.stem!r} is no figure; finitewidth list shows all")
    if to.suffix.removeprefix(".") not in job.METADATA:
        raise ConfigError(f"{to}: the suffix must be one of .pdf, .svg, .png")
    if not to.parent.is_dir():
        raise ConfigError(f"{to}: there is no folder {to.parent}; make it first")
    found = _described(file)
    figure = job.redraw(figures[file.stem].module, file, found["settings"], found["mark"])
    job.save(figure, to, found["footer"])
    print(to)


def _described(file: Path) -> dict:
    """Settings, mark and footer of a figure, from the data package of its paper.

    Raises:
        ConfigError: there is no package, or it does not describe the figure.
    """
    package = file.parent.parent / "datapackage.json"
    try:
        resources = json.loads(package.read_text(encoding="utf-8"))["resources"]
        (resource,) = (each for each in resources if each["name"] == file.stem)
        return resource["drawn"]
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(
            f"{package} does not describe {file.stem} ({error}); a run of everything, finitewidth "
            "run, writes it beside the folder of the figure"
        ) from None
