"""Files with the plans of jobs, by whose dates Snakemake sees which jobs have to run.

Each rule has a file with the plan of its job among its inputs. `PlanFiles.write` gives the file an
old date where the results are those of the plan, and a new one where they are not. Snakemake, which
goes by dates, then runs just these jobs. The name of the file has a digest of the plan, so that a
look at other settings, as by a dry run, leaves the files of a run at work alone.
"""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ResultError, unwritable
from finitewidth.pipeline.folders import DATASETS, PLANS
from finitewidth.pipeline.plans.job_plans import JobPlans
from finitewidth.records.provenance import TIMESTAMP

FIRST_DATE = 1.0  # seconds since 1970


class PlanFiles:
    """The files with the plans of the jobs of one configuration."""

    def __init__(self, job_plans: JobPlans):
        self._job_plans = job_plans
        self.used = False
        """Whether files were asked for: by a run, but not by ``finitewidth report``."""

    def file(self, name: str) -> str:
        """The file with the plan of a job, an input of its rule."""
        if name.startswith("dataset "):
            folder = DATASETS
        else:  # that of the results of the run
            folder = "/".join(self._job_plans[name].provenance.split("/")[:2])
        stem = name.replace("/", ".").replace(" ", ".")
        return f"{folder}/{PLANS}/{stem}-{self._job_plans.identity(name)}.json"

    def write(self, name: str) -> str:
        """Write the file with the plan of a job, and date it as Snakemake has to see it.

        Raises:
            ResultError: the file cannot be written.
        """
        self.used = True
        file = Path(self.file(name))
        try:
            if self._job_plans.reasons(name):
                self._write_newer(file, name)
            elif not (file.exists() and file.stat().st_mtime == 0):
                _write(file, self._job_plans.record(name), date=0.0)  # older than any result
        except OSError as error:
            raise unwritable(error, file) from error
        return str(file)

    def _write_newer(self, file: Path, name: str) -> None:
        """Write a file that is newer than the results of its job."""
        record = {
            **self._job_plans.record(name),
            "reasons": self._job_plans.reasons(name),
            # Snakemake passes over a file that is newer but has the content that it knows
            "written": time.time_ns(),
        }
        # newer than all results, also than those that a wrong clock has dated
        after_results = [date + 1 for date in self._date_results(name)]
        _write(file, record, date=max([time.time(), *after_results]))

    def _date_results(self, name: str) -> list[float]:
        """The dates of the results of a job, of which none is 1970-01-01 afterwards.

        An archive may have given them this date, which Snakemake takes for none: it would not
        compare them with the file with the plan. It counts the benchmark among the results.
        """
        plan = self._job_plans[name]
        dates = []
        for result in map(Path, filter(None, (*plan.results, plan.benchmark))):
            file = result / TIMESTAMP if result.is_dir() else result
            if not file.exists():
                continue
            if file.stat().st_mtime < FIRST_DATE:
                os.utime(file, (FIRST_DATE, FIRST_DATE))
            dates.append(file.stat().st_mtime)
        return dates

    def written(self, name: str) -> str:
        """The file with the plan of a job, which another process has written.

        Raises:
            ResultError: there is none, since code or settings have changed meanwhile.
        """
        file = self.file(name)
        if not os.path.isfile(file):
            raise ResultError(
                f"the code or the settings of {name} have changed since the run was "
                "planned; start the run again"
            )
        return file


def _write(file: Path, record: Mapping[str, Any], date: float) -> None:
    """Write a record in one step, with a date in seconds since 1970."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(record), encoding="utf-8")
    os.utime(temporary, (date, date))
    os.replace(temporary, file)
