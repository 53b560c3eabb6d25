"""What the workflow asks of the package: files, parameters, footers and requests of every job.

Imports no torch: Snakemake reads this at every start.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from finitewidth.claims import ledger
from finitewidth.claims.captions import settings_of
from finitewidth.claims.needs import unmet
from finitewidth.common.errors import ConfigError
from finitewidth.common.number_words import rough_duration
from finitewidth.data.catalogue import ROLES, describe, source_for
from finitewidth.data.places import registered
from finitewidth.declarations.paper_files import modules_of, text_file
from finitewidth.declarations.papers import Artifact, Experiment, artifacts_of, read_papers
from finitewidth.pipeline import configuration, costs
from finitewidth.pipeline.disk import disk_space
from finitewidth.pipeline.evidence import Evidence
from finitewidth.pipeline.footers import Footers
from finitewidth.pipeline.jobs import Input, Job, Jobs, chosen, makers_of
from finitewidth.pipeline.requests import Requests
from finitewidth.pipeline.schedule import Step
from finitewidth.records.code import Code, code_of
from finitewidth.settings import presets as settings


def _makers(reads: Iterable[Input]) -> list[str]:
    """The jobs that make some inputs."""
    return list(dict.fromkeys(makers_of(reads).values()))


@dataclass(frozen=True)
class OtherPreset:
    """Another preset with its own settings, and what its jobs cost."""

    preset: str
    config: Mapping[str, Any]
    costs: Mapping[str, costs.Cost]


# part of a paper's folder -> the module that runs its experiments, or draws its artifacts, as jobs
RUNNERS = {
    "experiments": "finitewidth.measures.job",
    "figures": "finitewidth.figures.job",
    "tables": "finitewidth.tables.job",
}


class Plan:
    """A checked configuration, and the ``jobs`` that it means, in a folder of ``results``."""

    def __init__(self, config: Mapping[str, Any], root: str | Path):
        """Check ``config``; ``root`` is the folder of the Snakefile."""
        self.root = Path(root)
        self.papers = read_papers(self.root / "workflow/papers")
        self.captioned = tuple(paper.name for paper in self.papers)
        configuration.check(config, self.captioned)
        self.config = config = {**config, "data": registered(config["data"])}
        for role in ROLES:
            source_for(role, config["data"])
        self.artifacts = artifacts_of(self.papers)
        paper = settings.preset_only("paper", self.root / "config")
        preset = settings.preset_only(config["preset"], self.root / "config")
        sources = configuration.sources_of(paper, self.captioned)
        self.jobs = Jobs(self.papers, config)
        unmodified = self.jobs if config == preset else Jobs(self.papers, preset)
        self.evidence = Evidence(self.jobs, unmodified, Jobs(self.papers, paper), sources)
        self.footers = Footers(self.jobs, self.evidence)
        self.results = self.jobs.results
        self.errata = f"{self.results}/errata/experiments/errata.csv"
        self.gpus = int(config["device"] != "cpu")  # that a training asks a scheduler for

    @cached_property
    def costs(self) -> dict[str, costs.Cost]:
        """Job -> its row at this preset in the table of costs; not every job has one."""
        return costs.read_costs(self.root / costs.TABLE, self.config["preset"])

    @cached_property
    def needs(self) -> dict[str, list[str]]:
        """Job (as `announced.job_name` names it) -> the jobs whose files it reads, of all jobs."""
        needs = self._needs_of_jobs()
        last = self._needs_of_last_jobs()
        artifacts = [entry.artifact for entry in self.artifacts]
        return {**needs, **last, "report": [*artifacts, *last]}

    def _needs_of_jobs(self) -> dict[str, list[str]]:
        """The needs of experiments, artifacts and trainings, and of the datasets, which have none.

        The datasets follow in the order in which the other jobs read them.
        """
        jobs = self.declared()
        jobs += [self.jobs[name] for name in self.jobs.trainings]
        needs = {job.name: _makers(job.inputs) for job in jobs}
        for makers in list(needs.values()):
            for maker in makers:
                needs.setdefault(maker, [])
        return needs

    def _needs_of_last_jobs(self) -> dict[str, list[str]]:
        """The needs of claims, captions, data packages and errata, on which only the report rests.

        A job that makes a header of the data packages is one of their needs.
        """
        needs = {f"claims {paper}": _makers(self.claim_reads(paper)) for paper in self.captioned}
        captions = [f"captions_{paper}" for paper in self.captioned]
        for paper, caption in zip(self.captioned, captions, strict=True):
            needs[caption] = [f"claims {other}" for other in self.judged_in(paper)]
        makers = [maker for maker in self.headers().values() if maker]
        artifacts = [entry.artifact for entry in self.artifacts]
        needs["datapackages"] = list(dict.fromkeys([*makers, *artifacts, *captions]))
        needs["errata"] = []
        return needs

    @cached_property
    def requests(self) -> Requests:
        """Memory, time, priority and group of every job."""
        return Requests(self.jobs, self.costs, lambda: self.needs)

    def of(self, paper: str | None) -> list[Artifact]:
        """The artifacts of one paper or, for None, of all papers."""
        return [entry for entry in self.artifacts if paper in (None, entry.paper)]

    def declared(self) -> list[Job]:
        """Every experiment and every artifact, in the order of their declarations."""
        return [
            self.jobs[each.name if isinstance(each, Experiment) else each.artifact]
            for paper in self.papers
            for each in (*paper.experiments, *paper.artifacts)
        ]

    def params(self, name: str) -> dict[str, Any]:
        """The settings that an experiment or a renderer is called with, and what it is told."""
        job = self.jobs[name]
        if job.kind == "experiment" and not job.declared.facts:
            return dict(job.params)
        facts = {"datasets": self.evidence.datasets, "comparable": self.evidence.comparable}
        known = {fact: facts[fact](job.inputs) for fact in job.declared.facts}
        artifact = {"artifact": name} if isinstance(job.declared, Artifact) else {}
        return {**artifact, **job.params, **known}

    def code(self, name: str) -> Code:
        """All code that an experiment or a renderer reaches."""
        module = self.jobs[name].declared.module
        return self.code_of(module, RUNNERS[module.split(".")[-2]], script="declared")

    def code_of(self, *modules: str, script: str, texts: Iterable[str | Path | None] = ()) -> Code:
        """The code of a job: modules and all that they import, their script, and some texts."""
        root = self.root.resolve()
        files = [os.path.relpath(root / text, root) for text in texts if text]
        return code_of(modules, [f"workflow/scripts/{script}.py", *files], self.root)

    def seconds(self, job: str) -> float | None:
        """CPU seconds of a job by the table; None without a row, or with modified settings."""
        known = job in self.costs and job not in self.evidence.modified
        return self.costs[job].seconds if known else None

    def step(self, job: str, shown: Mapping[str, str]) -> Step:
        """What is known of a job before it runs; ``shown`` has the jobs of the run, and names."""
        needs = [shown[each] for each in self.needs.get(job, ()) if each in shown]
        return Step(self.seconds(job), needs, self.requests.priority(job, {}))

    def on_device(self, name: str) -> bool:
        """Whether a declared job runs on the device of the configuration, such as a GPU."""
        return "device" in self.jobs[name].declared.tell

    def targets(self, paper: str | None = None) -> list[str]:
        """The files of all artifacts, of one paper or of all."""
        entries = self.of(paper)
        return [file for entry in entries for file in self.jobs.outputs(entry.artifact).values()]

    def verdicts(self) -> list[str]:
        """The tables of verdicts and numbers of all papers."""
        return [file for paper in self.captioned for file in self.verdict_tables(paper).values()]

    def verdict_tables(self, paper: str) -> dict[str, str]:
        """The tables of verdicts and numbers of one paper."""
        kinds = ("verdicts", "parts", "numbers")
        return {kind: f"{self.results}/claims/{paper}_{kind}.csv" for kind in kinds}

    def errata_code(self) -> Code:
        """The code that checks the errata of all papers, and their texts."""
        modules = [each for paper in self.captioned for each in modules_of(paper, "errata")]
        modules += ["finitewidth.errata.table", "finitewidth.measures.job"]
        texts = [text_file(paper, name) for paper in self.captioned for name in ("errata", "text")]
        return self.code_of(*modules, script="declared", texts=texts)

    def claim_inputs(self, paper: str) -> dict[str, Any]:
        """The files that rule ``claims`` reads for a paper: tables, claims and printed numbers."""
        tables = [file for read in self.claim_reads(paper) for file in read.files]
        inputs: dict[str, Any] = {"tables": tables}
        if texts := text_file(paper, "claims"):
            inputs["claims"] = os.path.relpath(texts, self.root.resolve())
        if printed := self._reported(paper):
            inputs["reported"] = printed
        return inputs

    def claim_reads(self, paper: str) -> list[Input]:
        """The tables that a paper's claims and printed numbers are compared with."""
        judged = [claim.reads for claim in ledger.claims_of(paper) if claim.judge]
        compared = [numbers.reads for numbers in ledger.numbers_of(paper)]
        tables = dict.fromkeys(ref for reads in judged + compared for ref in reads.values())
        return [self.jobs.input("", reference) for reference in tables]

    def _reported(self, paper: str) -> str | None:
        """The file of a paper's printed numbers, if there is one."""
        file = f"config/reported/{paper}.csv"
        return file if (self.root / file).is_file() else None

    def claim_settings(self, paper: str) -> dict[str, Any]:
        """What the claims of a paper are judged with, beside the tables."""
        situations = {c.id: self._situation(c) for c in ledger.claims_of(paper) if c.judge}
        numbers = {
            f"{each.artifact}/{each.quantity}": self._bases(each)
            for each in ledger.numbers_of(paper)
        }
        return {
            "preset": self.config["preset"],
            "results": self.results,
            "numbers": numbers,
            "situations": situations,
        }

    def _bases(self, numbers: ledger.Numbers) -> dict[str, dict[str, Any]]:
        """Part -> the fields of the `reported.Basis` of some printed numbers."""
        reads, free = self.jobs.inputs("", numbers.reads), numbers.scale_free
        context, bases = self.footers.context(reads), {}
        for part, always in numbers.parts.items():
            rows = part.split()
            scale = self.evidence.scale(reads, rows)
            known = False if free else (True if always else None)
            words = () if free else self.evidence.differences(reads, rows)
            bases[part] = {
                "kind": numbers.kind,
                "papers": free or (scale.sizes and scale.originals and not always),
                "stand_in": scale.stand_in and not free,
                "differs": "; ".join(filter(None, (*words, always))),
                "grade": self.evidence.grade(reads, scale, known),
                "context": context,
            }
        return bases

    def _situation(self, claim: ledger.Claim) -> dict[str, Any]:
        """The fields of the `ledger.Situation` of a claim in this configuration."""
        reads = self.jobs.inputs("", claim.reads)
        scale, sizes = self.evidence.scale(reads), claim.own_sizes
        own = sizes is not None and not unmet(sizes, self.config, paper_scale=scale.papers)
        few = bool(unmet(claim.own_runs, self.config, paper_scale=scale.papers))
        lacking = unmet(claim.needs, self.config, paper_scale=scale.papers)
        larger = [each for each in self.larger if self._meets(claim, each)] if lacking else []
        return {
            "unmet": lacking,
            "larger": self._time_at(claim, larger[0].preset) if larger else "",
            "papers": self._time_at(claim, "paper") if self.larger else "",
            "sizes": scale.sizes if sizes is None else own,
            "stand_in": scale.stand_in,
            "grade": self.evidence.grade(reads, scale, few or None),
            "context": self.footers.context(reads),
        }

    @cached_property
    def larger(self) -> list[OtherPreset]:
        """The presets that are larger than that of this run, the smallest first."""
        own, presets = self.config["preset"], settings.PRESETS
        others = presets[presets.index(own) + 1 :] if own in presets else ()
        found = []
        for preset in others:
            config = settings.preset_only(preset, self.root / "config")
            rows = costs.read_costs(self.root / costs.TABLE, preset)
            found.append(OtherPreset(preset, config, rows))
        return found

    def _meets(self, claim: ledger.Claim, other: OtherPreset) -> bool:
        """Whether another preset meets the needs of a claim."""
        return not unmet(claim.needs, other.config, paper_scale=other.preset == "paper")

    def _time_at(self, claim: ledger.Claim, preset: str) -> str:
        """How long the jobs behind a claim take at a larger preset, by forecast, in words."""
        other = next(each for each in self.larger if each.preset == preset)
        jobs = costs.behind(self.needs, _makers(self.jobs.inputs("", claim.reads)))
        seconds = sum(other.costs[job].seconds for job in jobs if job in other.costs)
        return f"preset {preset} takes {rough_duration(seconds)} of one core for it, by forecast"

    def claim_code(self, paper: str) -> Code:
        """The code that judges a paper's claims."""
        modules = *ledger.judging_modules(paper), "finitewidth.claims.job"
        return self.code_of(*modules, script="claims")

    def caption(self, artifact: str) -> str:
        """The caption of an artifact, with settings and verdicts of this run."""
        return f"{self.results}/{self.jobs[artifact].paper}/captions/{artifact}.rst"

    def captions(self, paper: str | None = None) -> list[str]:
        """The captions of all artifacts, of one paper or of all."""
        return [self.caption(entry.artifact) for entry in self.of(paper)]

    def caption_jobs(self, paper: str) -> dict[str, dict[str, Any]]:
        """Artifact -> what its caption is written from."""
        jobs, templates = {}, self.caption_inputs(paper)["templates"]
        for entry, template in zip(self.of(paper), templates, strict=True):
            text = (self.root / template).read_text(encoding="utf-8")
            try:
                shown = {name: chosen(self.config, f"config.{name}") for name in settings_of(text)}
            except ConfigError as error:
                raise ConfigError(f"{template}: {error}") from None
            jobs[entry.artifact] = {
                "template": template,
                "settings": shown,
                "output": self.caption(entry.artifact),
                "footer": self.footers.footer(entry.artifact),
            }
        return jobs

    def caption_inputs(self, paper: str) -> dict[str, list[str]]:
        """The templates of the captions of a paper, and the verdicts that they tell."""
        folder = f"src/finitewidth/papers/{paper}/captions"
        templates = [f"{folder}/{entry.artifact}.rst" for entry in self.of(paper)]
        for template in templates:
            if not (self.root / template).is_file():
                raise ConfigError(f"{Path(template).stem} has no caption; write {template}")
        verdicts = [self.verdict_tables(each)["verdicts"] for each in self.judged_in(paper)]
        return {"templates": templates, "verdicts": verdicts}

    def judged_in(self, paper: str) -> list[str]:
        """The papers with claims on the artifacts of a paper."""
        names = {entry.artifact for entry in self.of(paper)}
        carried = {p: {a for c in ledger.claims_of(p) for a in c.artifacts} for p in self.captioned}
        return [each for each, artifacts in carried.items() if names & artifacts]

    def headers(self) -> dict[str, str | None]:
        """Files whose columns the data packages name -> the job that makes each, if one does."""
        reads = [read for a in self.artifacts for read in self.jobs[a.artifact].inputs]
        makers = makers_of(reads)
        return {read.files[0]: makers.get(read.files[0]) for read in reads}

    def packages(self) -> dict[str, dict[str, Any]]:
        """Data package -> what it describes, one for each paper."""
        return {
            f"{self.results}/{paper.name}/datapackage.json": {
                "paper": paper.name,
                "title": paper.title,
                "preset": self.config["preset"],
                "resources": [
                    {
                        "artifact": entry.artifact,
                        "title": f"{entry.label}: {entry.title}",
                        "footer": self.footers.footer(entry.artifact),
                        "file": self.jobs.outputs(entry.artifact)["csv"],
                        "caption": self.caption(entry.artifact),
                        "renderer": self._renderer(entry),
                        "inputs": {
                            read.reference: list(read.files)
                            for read in self.jobs[entry.artifact].inputs
                        },
                    }
                    for entry in paper.artifacts
                ],
            }
            for paper in self.papers
        }

    def _renderer(self, entry: Artifact) -> dict[str, Any]:
        """The module of an artifact, with all that it is told: its figure can be drawn again."""
        renderer = {"module": entry.module, "settings": self.params(entry.artifact)}
        mark = {"mark": self.footers.mark(entry.artifact)} if entry.kind == "figure" else {}
        return renderer | mark

    def report_settings(self) -> dict[str, Any]:
        """What the report is told beside the jobs: papers, and artifacts with their files."""
        versions = {paper.name: paper.version_of for paper in self.papers}
        data = self.config["data"]
        return {
            "preset": self.config["preset"],
            "results": self.results,
            "papers": list(versions),
            "versions": versions,
            "errata": self.errata,
            "artifacts": [self._reported_artifact(entry) for entry in self.artifacts],
            "datasets": [describe(data[role], role, data["imagefolder"]) for role in ROLES],
        }

    def _reported_artifact(self, entry: Artifact) -> dict[str, Any]:
        """What the report is told of a table or figure: its declaration, files, scale and grade."""
        return {
            "artifact": entry.artifact,
            "paper": entry.paper,
            "kind": entry.kind,
            "label": entry.label,
            "title": entry.title,
            "extra": entry.extra,
            "first_page": entry.first_page,
            "files": self.jobs.outputs(entry.artifact),
            "caption": self.caption(entry.artifact),
            "scale": self.evidence.status(entry.artifact),
            "grade": self.evidence.grade_of_artifact(entry.artifact),
        }

    def log(self, name: str) -> str:
        """The log of a job."""
        return f"{self.results}/logs/{self._stem(name)}.log"

    def benchmark(self, name: str) -> str:
        """The file with time and memory of a job, as Snakemake measures them."""
        return f"{self.results}/benchmarks/{self._stem(name)}.tsv"

    def _stem(self, name: str) -> str:
        if name in self.jobs.experiments or name in self.jobs.artifacts:
            return f"{self.jobs[name].paper}/{name}"
        if name.startswith("captions_"):
            return f"{name.removeprefix('captions_')}/captions"
        if name == "errata":
            return "errata/errata"
        return name.replace("/", "/training/").replace(" ", "/")

    def forecast(self, cores: int) -> str:
        """What every artifact, every paper and everything takes, and a run on some ``cores``."""
        sums = {entry.artifact: [entry.artifact] for entry in self.artifacts}
        for paper in self.captioned:
            sums[f"all of {paper}"] = [entry.artifact for entry in self.of(paper)]
        on_gpu = {*self.jobs.trainings, *filter(self.on_device, self.jobs.experiments)}
        sums["everything"] = [*self.needs]
        table = costs.forecast(self.needs, self.costs, sums, on_gpu)
        names = {job: job for job in self.needs}
        steps = {job: self.step(job, names) for job in names}
        wall = costs.wall_times(steps, self.costs, cores)
        return f"{table}\n\n{wall}\n\n{disk_space(self.jobs)}"
