"""``finitewidth list``: all artifacts, and the files of those that are made."""

from pathlib import Path

from finitewidth.cli.options import Results
from finitewidth.common.declarations import artifacts_of, read_papers
from finitewidth.common.errors import ConfigError


def list_artifacts(*, paper: str | None = None, results: Results = Results()) -> None:
    """List all artifacts and the files of those made.

    Example: finitewidth list --paper thesis

    Args:
        paper: only the artifacts of one paper

    Raises:
        ConfigError: the paper is unknown.
    """
    papers = read_papers()
    if paper is not None and paper not in {each.name for each in papers}:
        raise ConfigError(f"--paper {paper}: must be one of {', '.join(p.name for p in papers)}")
    folder = Path(results.folder)
    for artifact in artifacts_of(papers):
        if paper not in (None, artifact.paper):
            continue
        suffix = "pdf" if artifact.kind == "figure" else "md"
        path = folder / f"{artifact.paper}/{artifact.kind}s/{artifact.artifact}.{suffix}"
        found = str(path) if path.is_file() else "not made yet"
        print(f"{artifact.artifact:<22} {found:<55} {artifact.title}")
