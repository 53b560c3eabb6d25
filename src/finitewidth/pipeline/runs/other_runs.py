"""Other runs at work in the same clone: which may go on beside this one, and which may not.

Every run has its own folder of results, and all share the datasets. Snakemake locks the files of a
run. But when a run ends, Snakemake removes all locks, those of other runs too; ``--nolock`` lets a
run neither lock nor unlock.
"""

from pathlib import Path

from finitewidth.common.errors import ConfigError
from finitewidth.pipeline.folders import DATASETS
from finitewidth.records.running import FOLDER, RUN, Running, read_running


def at_work(results: str) -> list[Running]:
    """Return what runs now in a folder of results: runs, or jobs of runs elsewhere."""
    return read_running([results])


def elsewhere(results: str) -> list[str]:
    """Return the other folders of results in which something runs now."""
    folders = sorted(str(path.parent) for path in Path("results").glob(f"*/{FOLDER}"))
    return [folder for folder in folders if folder not in (results, DATASETS) and at_work(folder)]


def refuse(results: str, locked: bool) -> None:
    """Refuse to start a run that would disturb another one.

    Args:
        results: the folder of the results of this run
        locked: whether Snakemake locks the files of this run

    Raises:
        ConfigError: another run is at work in the same folder, or in another one while this run
            would remove its locks. The message says how both can work.
    """
    for other in at_work(results):
        work = "a run" if other.job.startswith(RUN) else f"the job {other.job} of a run"
        raise ConfigError(
            f"{work} is at work in {results} (process {other.pid} on {other.host}); "
            "wait until it ends, or stop it"
        )
    folders = elsewhere(results)
    if locked and folders:
        raise ConfigError(
            f"another run is at work in {', '.join(folders)}, whose locks Snakemake "
            "would remove; add --nolock, or start with `finitewidth run`, which does "
            "so by itself"
        )


def refuse_dataset(file: str, results: str) -> None:
    """Refuse to make a dataset that another run may be making.

    Raises:
        ConfigError: a run is at work in another folder of results.
    """
    folders = elsewhere(results)
    if folders:
        raise ConfigError(
            f"{file} has to be made, and the run at work in {', '.join(folders)} may "
            "be making it or reading it; start again when that run has ended"
        )
