"""What the command lines of jobs contain: no settings, and no path that a shell would interpret.

On a cluster Snakemake starts every job with a command line of its own, which shells read. It quotes
overrides as Python does, so that ``data={root: '/data/$(date)'}`` would be carried out there. Hence
the settings travel to the jobs in a file, and a run on a cluster is refused if a path that must
stand on the command line has a character that a shell interprets.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.common.result_files import atomic
from finitewidth.common.settings import merged
from finitewidth.data.places import VARIABLE

# characters that mean themselves inside quotes of either kind; and without quotes
_QUOTED = r"[^\x00-\x1f\x7f$`\\!'\"]"
_BARE = r"[\w@%+=:,./-]"
_WORD = re.compile(rf"(?:{_BARE}|'[^'\x00-\x1f\x7f]*'|\"(?:{_QUOTED}|')*\")+")


def is_literal(text: str) -> bool:
    """Whether a shell takes a command line as words, and interprets nothing in it."""
    rest = text.strip(" ")
    while rest:
        word = _WORD.match(rest)
        if word is None or not (word.end() == len(rest) or rest[word.end()] == " "):
            return False
        rest = rest[word.end() :].lstrip(" ")
    return True


def relative_interpreter(executable: str, folder: str | Path) -> str:
    """Return the interpreter that jobs are started with; Snakemake does not quote it.

    Args:
        executable: ``sys.executable``.
        folder: the working directory, in which jobs are started.

    Returns:
        The path, relative to ``folder`` if the folder's own path could not be used unquoted.

    Raises:
        ConfigError: the interpreter lies outside ``folder``, and a shell would not take its path as
            one word.
    """
    if re.fullmatch(f"{_BARE}+", executable):
        return executable
    if Path(executable).is_relative_to(folder):
        inside = str(Path(executable).relative_to(folder))
        if re.fullmatch(f"{_BARE}+", inside):
            return inside
    raise ConfigError(
        f"the path of the Python interpreter, {executable!r}, has a space or a character that a "
        "shell interprets, and Snakemake does not quote it; use an environment whose path has "
        "letters, digits and ./_-+ only, or one inside the folder of the project (make setup)"
    )


def settings_of_jobs(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that jobs are given: the overrides of a run, and its data root.

    ``data.root`` takes the value of FINITEWIDTH_DATA if it is not set, since not every scheduler
    hands environment variables on to its jobs.
    """
    data = overrides.get("data")
    given = isinstance(data, Mapping) and data.get("root")
    place = os.environ.get(VARIABLE)
    return merged(overrides, {} if given or not place else {"data": {"root": place}})


def send_in_a_file(workflow: Any, folder: str | Path) -> None:
    """Let jobs that Snakemake starts by a command line read their settings from a file.

    Args:
        workflow: Snakemake's; its overrides are checked already.
        folder: ``.snakemake`` of the working directory; files below ``settings`` are named by the
            digest of their contents, and stay, as jobs may outlive their run.
    """
    chosen = workflow.config_settings
    text = json.dumps(settings_of_jobs(chosen.overwrite_config), indent=1, sort_keys=True)
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    file = Path(folder).absolute() / "settings" / f"{name}.json"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    chosen.configfiles, chosen.config_args = [file], []


def refuse_active_words(workflow: Any) -> None:
    """Refuse a run on a cluster if a shell would interpret a path on its command lines.

    Raises:
        ConfigError: a path, or an option of Snakemake, has a character that a shell interprets; the
            message names it.
    """
    if workflow.local_exec:
        return
    paths = {
        "the folder of the run": workflow.workdir_init,
        "the Snakefile": workflow.main_snakefile,
        "the Python interpreter": sys.executable,
    }
    for what, path in paths.items():
        if not re.fullmatch(f"{_QUOTED}+", str(path)):
            raise ConfigError(
                f"{what}, {str(path)!r}: its path has a quote, a backslash, a line break or one of "
                "$ ` !, which shells of a cluster interpret; move it to a path without them"
            )
    common = workflow.executor_plugin.common_settings
    text = workflow.spawned_job_args_factory.general_args(executor_common_settings=common)
    if not is_literal(text):
        raise ConfigError(
            "Snakemake would write an option into the command line of jobs that a shell would "
            f"interpret; give options and paths without quotes and $ ` \\ ! only: {text}"
        )
