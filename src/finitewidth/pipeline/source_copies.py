"""Snakemake's copies of scripts and environment files in its folder for temporary files."""

from typing import Any


def copy_sources(workflow: Any) -> None:
    """Let Snakemake copy all scripts and environment files now, and not when a job needs them.

    Snakemake copies each of them to the folder for temporary files (TMPDIR) when it is first
    needed: a script before its job, an environment file after the first job. If the folder has
    become full by then, a finished job counts as failed, and its results are deleted.

    Args:
        workflow: of Snakemake, with all its rules.
    """
    wanted = {}
    for rule in workflow.rules:
        for file in filter(None, (rule.conda_env, rule.script)):
            wanted[f"{rule.basedir} {file}"] = rule.basedir.join(file)
    for source in wanted.values():
        workflow.sourcecache.get_path(source)
