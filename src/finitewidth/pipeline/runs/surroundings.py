"""The surroundings of a run: package, interpreter, user and folders.

They are looked at before the first job starts, where the message can name the remedy.
"""

import getpass
import os
import re
import shlex
import tempfile
from pathlib import Path

from finitewidth.common.errors import ConfigError, ResultError, unwritable
from finitewidth.records.provenance import SOURCE_ROOT

PLAIN = re.compile(r"[\w@%+=:,./-]+")  # a path that a shell takes as it stands


def find_project(start: Path, given: Path | None = None) -> Path:
    """Return the folder of the project: ``given``, or ``start`` or a folder above it.

    Raises:
        ConfigError: there is none, or it is not the one that this package belongs to.
    """
    folders = (start.resolve(), *start.resolve().parents) if given is None else (given.resolve(),)
    for folder in folders:
        if (folder / "Snakefile").exists() and (folder / "workflow/papers").exists():
            refuse_other_package(folder)
            return folder
    raise ConfigError(
        f"{given or start} has no Snakefile and workflow/papers, so it is no clone "
        "of finitewidth; go to one, or name it with --project DIR, in Python with project=DIR"
    )


def refuse_other_package(project: Path, package: Path = SOURCE_ROOT) -> None:
    """Refuse to work in one clone with the code of another.

    Args:
        project: the folder of the Snakefile.
        package: the folder that the package was imported from.

    Raises:
        ConfigError: the package is not below ``project/src``.
    """
    source = project / "src"
    if not package.resolve().is_relative_to(source.resolve()):
        raise ConfigError(
            f"finitewidth was imported from {package}, not from {source}: run `make setup` in "
            f"{project} and use its .venv, or set PYTHONPATH={shlex.quote(str(source))}"
        )


def refuse_braces(*folders: str | Path) -> None:
    """Refuse a folder with braces in its path, which Snakemake takes for placeholders.

    Raises:
        ConfigError: a path has a brace.
    """
    for folder in map(str, folders):
        if "{" in folder or "}" in folder:
            raise ConfigError(
                f"{folder}: Snakemake takes braces in a path for placeholders; rename the folder, "
                "or clone elsewhere"
            )


def interpreter(executable: str, folder: str | Path) -> str:
    """Return the path of Python for Snakemake, which writes it into shell commands without quotes.

    Args:
        executable: ``sys.executable``.
        folder: the folder in which jobs start.

    Returns:
        The path, relative to ``folder`` if a shell would not take the whole path as it stands.

    Raises:
        ConfigError: a shell would not take the relative path, either.
    """
    relative = os.path.relpath(executable, folder)
    for path in (executable, relative):
        if PLAIN.fullmatch(path):
            return path
    raise ConfigError(
        f"{executable}: Snakemake does not quote the path of Python, and this one has a space or "
        "another character that a shell interprets; start in the folder of the clone with its "
        ".venv, or move the environment to a path without them"
    )


def name_user() -> None:
    """Give a user without an entry in ``passwd`` a name and a home folder, as Snakemake needs.

    Containers run under such a user. The variables hold for this process and its children.
    """
    try:
        getpass.getuser()
    except (KeyError, OSError):  # OSError since Python 3.13
        os.environ["USER"] = str(os.getuid())
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = "/"


def refuse_missing_target(link: str | Path) -> None:
    """Refuse a link that leads nowhere, such as ``results`` on a disk that is not mounted.

    Raises:
        ResultError: there is nothing where the link leads.
    """
    if os.path.islink(link) and not os.path.exists(link):
        raise ResultError(
            f"{link} is a link to {os.readlink(link)}, which is not there; mount its disk, make "
            "the folder, or remove the link"
        )


def refuse_unwritable(*folders: str | Path) -> None:
    """Refuse to start a run that could not write in its folders.

    Args:
        folders: if one does not exist, the folder is tried in which it would be made.

    Raises:
        ResultError: no file can be written, or a folder is a link that leads nowhere.
    """
    for folder in folders:
        refuse_missing_target(folder)
        path = Path(folder).absolute()
        existing = next(folder for folder in (path, *path.parents) if os.path.exists(folder))
        try:
            tempfile.TemporaryFile(dir=existing).close()
        except OSError as error:
            raise unwritable(error, existing) from None
