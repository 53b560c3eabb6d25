"""All jobs that a configuration changes, executed in this process.

A job is done once for all configurations that agree in all that it depends on, as in a run.
"""

import hashlib
import json
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from finitewidth.captions.job import write_captions
from finitewidth.claims import ledger
from finitewidth.claims.job import _chosen, read_tables, write_verdicts
from finitewidth.claims.model import numbers_of
from finitewidth.claims.verdicts import CannotDecideError
from finitewidth.common import fields, result_files
from finitewidth.common.references import table_file
from finitewidth.data.build import build_dataset
from finitewidth.data.store import write_dataset
from finitewidth.experiments.job import run_experiment
from finitewidth.figures.job import redraw
from finitewidth.pipeline.jobs import Job, Read
from finitewidth.pipeline.plan import Plan
from finitewidth.tables.job import render_table
from finitewidth.training.job import run_training

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 90  # CPU seconds of a job


class TooLongError(Exception):
    """A job took more than `LONGEST`."""


@contextmanager
def limited(seconds: float):
    """Raise `TooLongError` in a block after so many CPU seconds."""

    def stop(*_):
        raise TooLongError(f"more than {seconds:g} CPU seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Results:
    """The files of all jobs that were executed, by what the jobs depend on.

    Args:
        folder: where to keep them.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.executed = 0

    def key(self, plan: Plan, name: str) -> str:
        """A digest of all that a job depends on but its code."""
        job = plan.jobs[name]
        own = job.params if job.kind == "training" else plan.params(name)
        above = [self.key(plan, each) for read in job.reads for each in read.jobs]
        data = [file for read in job.reads if not read.jobs for file in read.files]
        text = json.dumps([name, own, above, data], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    def outputs(self, plan: Plan, name: str) -> dict[str, str]:
        """The files of a job; it is executed if they do not exist."""
        folder = self.folder / self.key(plan, name)
        job = plan.jobs[name]
        outputs = {kind: str(folder / file) for kind, file in plan.jobs.outputs(name).items()}
        done = folder / "done"
        if not done.exists():
            for read in job.reads:
                for each in read.jobs:
                    self.outputs(plan, each)
            with limited(LONGEST):
                self._execute(plan, job, outputs)
            done.touch()
            self.executed += 1
        return outputs

    def inputs(self, plan: Plan, job: Job) -> dict[str, Any]:
        """Name -> file, or files, as the job takes them."""
        found = {read.name: self._files(plan, read) for read in job.reads}
        several = {read.name for read in job.reads if read.several}
        return {name: files if name in several else files[0] for name, files in found.items()}

    def _files(self, plan: Plan, read: Read) -> list[str]:
        if not read.jobs:
            return [self._given(plan, file) for file in read.files]
        return [str(self.folder / self.key(plan, name) / file)
                for name, file in zip(read.jobs, read.files, strict=True)]  # fmt: skip

    def _given(self, plan: Plan, file: str) -> str:
        """A dataset, or numbers of the papers."""
        if not file.startswith("results/data/"):
            return str(ROOT / file)
        path = self.folder / file
        if not path.exists():
            write_dataset(path, build_dataset(path.stem, plan.config["data"]))
        return str(path)

    def _execute(self, plan: Plan, job: Job, outputs: dict[str, str]) -> None:
        made = {kind: file for kind, file in outputs.items() if kind != "provenance"}
        call = {"inputs": self.inputs(plan, job), "outputs": made}
        checkpoints = str(self.folder / "checkpoints")
        if job.kind == "training":
            runtime = {"threads": 1, "device": "cpu", "checkpoints": checkpoints,
                       "checkpoint_seconds": 1e6}  # fmt: skip
            run_training(**call, settings=job.params, code="", runtime=runtime)
            return
        call |= {"module": job.declared.module, "settings": plan.params(job.name)}
        if job.kind == "experiment":
            run_experiment(
                **call, code="", threads=1, device="cpu" if plan.on_device(job.name) else None,
                checkpoints=checkpoints if plan.checkpoints(job.name) else None,
                checkpoint_seconds=1e6,
            )  # fmt: skip
        elif job.kind == "figure":
            plan.footer(job.name)
            _draw(**call, mark=plan.mark(job.name))
        else:
            render_table(**call, footer=plan.footer(job.name))

    def changed(self, plan: Plan, base: Plan) -> list[str]:
        """The declared jobs that are not those of ``base``, in the order of the declarations."""
        names = [job.name for job in plan.declared()]
        return [name for name in names if self.key(plan, name) != self.key(base, name)]

    def judged(self, plan: Plan, names: Iterable[str]) -> None:
        """Judge the claims, and find the printed numbers, that rest on some experiments."""
        changed = set(names)

        def rests(reads: Mapping[str, str]) -> bool:
            return bool(changed & {reference.split(".")[0] for reference in reads.values()})

        for paper in plan.papers:
            claims = [c for c in ledger.claims_of(paper.name) if c.judge and rests(c.reads)]
            numbers = [n for n in numbers_of(paper.name) if rests(n.reads)]
            if claims or numbers:
                self._judge(plan, paper.name, claims, numbers)

    def _judge(self, plan: Plan, paper: str, claims: list, numbers: list) -> None:
        wanted = {table_file(ref) for each in (*claims, *numbers) for ref in each.reads.values()}
        folder = self.folder / "view" / plan.results
        for name, kind, file in self._makers(plan):
            below = file.removeprefix(f"{plan.results}/")
            if below in wanted:
                link = folder / below
                link.parent.mkdir(parents=True, exist_ok=True)
                link.unlink(missing_ok=True)
                link.symlink_to(self.outputs(plan, name)[kind])
        settings = plan.claim_settings(SimpleNamespace(paper=paper))
        outputs = {
            kind: str(self.folder / "view" / f"{kind}.csv") for kind in ("verdicts", "parts")
        }
        with limited(LONGEST):
            read = read_tables([str(folder / file) for file in wanted], str(folder))
            write_verdicts(claims, read, outputs, settings)
            for each in numbers:
                with suppress(CannotDecideError):
                    list(each.find(_chosen(read, each.reads)))

    def _makers(self, plan: Plan) -> Iterator[tuple[str, str, str]]:
        """Job, name of a file of it, and the file."""
        for job in plan.declared():
            for kind, file in plan.jobs.outputs(job.name).items():
                yield job.name, kind, file

    def captioned(self, plan: Plan, names: Iterable[str]) -> None:
        """Write the captions of artifacts, without verdicts."""
        for paper in plan.captioned:
            jobs: Mapping[str, Any] = plan.caption_jobs(paper)
            chosen = {
                name: {
                    **jobs[name],
                    "template": str(ROOT / jobs[name]["template"]),
                    "output": str(self.folder / jobs[name]["output"]),
                }
                for name in names
                if name in jobs
            }
            write_captions(chosen, [])


def _draw(
    module: str, inputs: Mapping[str, str], outputs: Mapping[str, str], settings: Any, mark: str
) -> None:
    """Do what `finitewidth.figures.job.render_figure` does, without writing pictures."""
    renderer = import_module(module)
    tables = {name: result_files.read_table(path) for name, path in inputs.items()}
    fields.write(outputs["csv"], renderer.select(tables, settings), renderer.FIELDS)
    figure = redraw(module, outputs["csv"], settings, mark)
    figure.set_dpi(50)
    figure.canvas.draw()
    if "json" in outputs:
        renderer.document(fields.read(outputs["csv"], renderer.FIELDS))


def execute(results: Results, plan: Plan, base: Plan) -> list[str]:
    """Execute all that a configuration changes; return the names of its jobs."""
    names = results.changed(plan, base)
    for name in names:
        results.outputs(plan, name)
    results.captioned(plan, names)
    results.judged(plan, names)
    return names
