"""What the workflow asks of the package: files, parameters, footers and requests of every job.

Imports no torch: Snakemake reads this at every start.
"""

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from finitewidth.captions import settings_of
from finitewidth.claims import ledger, model
from finitewidth.claims.needs import unmet
from finitewidth.common import settings
from finitewidth.common.declarations import Artifact, Experiment, artifacts_of, read_papers
from finitewidth.common.errors import ConfigError
from finitewidth.common.paper_files import text_file
from finitewidth.common.provenance import code_of
from finitewidth.data.catalogue import ROLES, describe, source_for
from finitewidth.data.places import registered, tree_of
from finitewidth.pipeline import configuration, costs
from finitewidth.pipeline.footers import Footers
from finitewidth.pipeline.jobs import Job, Read, chosen
from finitewidth.pipeline.requests import Requests

PAPERS = "src/finitewidth/papers"
VERDICT_TABLES = ("verdicts", "parts", "numbers")


def _makers(reads: Iterable[Read]) -> list[str]:
    """The jobs that make some inputs; those of datasets have no declaration."""
    makers = [name for read in reads for name in read.jobs]
    data = [file for read in reads for file in read.files if file.startswith("results/data/")]
    return [*dict.fromkeys([*makers, *(f"dataset {Path(file).stem}" for file in data)])]


class Plan:
    """A checked configuration, and the ``jobs`` that it means, in a folder of ``results``."""

    def __init__(self, config: Mapping[str, Any], root: str | Path):
        """Check ``config``; ``root`` is the folder of the Snakefile."""
        self.root = Path(root)
        self.papers = read_papers(self.root / "workflow/papers")
        configuration.check(config, self.captioned)
        self.config = config = {**config, "data": registered(config["data"])}
        for role in ROLES:
            source_for(role, config["data"])
        self.artifacts = artifacts_of(self.papers)
        folder = self.root / "config"
        paper = settings.preset_only("paper", folder)
        preset = settings.preset_only(config["preset"], folder)
        sources = configuration.sources_of(paper, self.captioned)
        self.footers = Footers(self.papers, config, preset, paper, sources)
        self.jobs = self.footers.jobs
        self.results = self.jobs.results

    @cached_property
    def costs(self) -> dict[str, costs.Cost]:
        """Job -> its row at this preset in the table of costs; not every job has one."""
        return costs.read_costs(self.root / costs.TABLE, self.config["preset"])

    @cached_property
    def needs(self) -> dict[str, list[str]]:
        """Job -> the jobs whose files it reads, of all jobs of a complete run.

        Jobs are named as by `finitewidth.pipeline.announced.job_name`.
        """
        jobs = [*self.declared(), *(self.jobs[name] for name in self.jobs.trainings)]
        needs = {job.name: _makers(job.reads) for job in jobs}
        needs |= {name: [] for makers in [*needs.values()] for name in makers if name not in needs}
        artifacts = [entry.artifact for entry in self.artifacts]
        ends = {f"claims {paper}": _makers(self.claim_reads(paper)) for paper in self.captioned}
        for paper in self.captioned:
            ends[f"captions_{paper}"] = [f"claims {each}" for each in self.judged_in(paper)]
        ends["datapackages"] = [*artifacts, *(f"captions_{paper}" for paper in self.captioned)]
        ends["errata"] = []
        return {**needs, **ends, "report": [*artifacts, *ends]}

    @cached_property
    def requests(self) -> Requests:
        """Memory, time, priority and group of every job."""
        return Requests(self.jobs, self.costs, lambda: self.needs)

    @property
    def captioned(self) -> tuple[str, ...]:
        """The keys of the papers."""
        return tuple(paper.name for paper in self.papers)

    def of(self, paper: str | None) -> list[Artifact]:
        """The artifacts of one paper or, for None, of all papers."""
        return [entry for entry in self.artifacts if paper in (None, entry.paper)]

    # --- rules ----------------------------------------------------------------------------------

    def declared(self) -> list[Job]:
        """Every experiment and every artifact, in the order of their declarations."""
        return [
            self.jobs[each.name if isinstance(each, Experiment) else each.artifact]
            for paper in self.papers
            for each in (*paper.experiments, *paper.artifacts)
        ]

    def params(self, name: str, wildcards: Any = None) -> dict[str, Any]:
        """The settings that an experiment or a renderer is called with, and what it is told."""
        job = self.jobs[name]
        if job.kind == "experiment" and not job.declared.tell:
            return dict(job.params)
        facts = {"datasets": self.footers.datasets, "comparable": self.footers.comparable}
        # the device is no parameter: another one does not make results out of date
        known = {fact: facts[fact](job.reads) for fact in job.declared.tell if fact != "device"}
        artifact = {"artifact": name} if isinstance(job.declared, Artifact) else {}
        return {**artifact, **job.params, **known}

    def code(self, name: str) -> dict[str, Any]:
        """All code and printed numbers that an experiment or a renderer reaches."""
        job = self.jobs[name]
        modules = job.declared.module, f"finitewidth.{job.declared.module.split('.')[-2]}.job"
        texts = [f for r in job.reads if r.reference.startswith("reported/") for f in r.files]
        return self.code_of(*modules, script="declared", texts=texts)

    def code_of(
        self, *modules: str, script: str, texts: Iterable[str | Path] = ()
    ) -> dict[str, Any]:
        """The parameter ``code`` of a rule: modules, their script, some texts, and their digest."""
        root = self.root.resolve()
        files = [os.path.relpath(root / text, root) for text in texts]
        return code_of(modules, [f"workflow/scripts/{script}.py", *files], self.root)

    def log(self, name: str) -> str:
        """The log of an experiment or an artifact."""
        return f"{self.results}/logs/{self.jobs[name].paper}/{name}.log"

    def benchmark(self, name: str) -> str:
        """The time and memory of an experiment or an artifact, as Snakemake measures them."""
        return f"{self.results}/benchmarks/{self.jobs[name].paper}/{name}.tsv"

    def seconds(self, job: str) -> float | None:
        """CPU seconds of a job by the table; None without a row, or with modified settings."""
        known = job in self.costs and job not in self.footers.modified
        return self.costs[job].seconds if known else None

    def gpus(self, name: str | None = None) -> int:
        """The number of GPUs that a training, or a declared job, asks a scheduler for."""
        wanted = name is None or self.on_device(name)
        return int(wanted and self.config["device"] != "cpu")

    def on_device(self, name: str) -> bool:
        """Whether a declared job runs on the device of the configuration, such as a GPU."""
        return "device" in self.jobs[name].declared.tell

    def checkpoints(self, name: str) -> str | None:
        """The folder of the checkpoints of an experiment that continues from them, else None."""
        resumes = getattr(self.jobs[name].declared, "resumes", False)
        return f"{self.results}/.checkpoints" if resumes else None

    def targets(self, paper: str | None = None) -> list[str]:
        """The files of all artifacts, of one paper or of all."""
        entries = self.of(paper)
        return [file for entry in entries for file in self.jobs.outputs(entry.artifact).values()]

    # --- data and trainings ---------------------------------------------------------------------

    def tree(self, wildcards: Any) -> str | None:
        """The folder of images that a source is read from, and a digest of its content, or None."""
        return tree_of(wildcards.source, self.config["data"])

    def training(self, wildcards: Any) -> Job:
        """The training that the wildcards of rule ``train`` name."""
        return self.jobs[f"{wildcards.paper}/{wildcards.training}"]

    # --- claims, captions, report ---------------------------------------------------------------

    def verdicts(self) -> list[str]:
        """The tables of verdicts and numbers of all papers."""
        return [file for paper in self.papers for file in self.verdict_tables(paper.name).values()]

    def verdict_tables(self, paper: str) -> dict[str, str]:
        """The tables of verdicts and numbers of one paper."""
        return {kind: f"{self.results}/claims/{paper}_{kind}.csv" for kind in VERDICT_TABLES}

    def errata(self) -> str:
        """The table of the papers' errata."""
        return f"{self.results}/errata/experiments/errata.csv"

    def claim_inputs(self, wildcards: Any) -> dict[str, Any]:
        """The files that rule ``claims`` reads for a paper: tables, claims and printed numbers."""
        paper = wildcards.paper
        tables = [file for read in self.claim_reads(paper) for file in read.files]
        inputs: dict[str, Any] = {"tables": tables}
        if texts := text_file(paper, "claims"):
            inputs["claims"] = os.path.relpath(texts, self.root.resolve())
        if printed := self._reported(paper):
            inputs["reported"] = printed[0]
        return inputs

    def claim_reads(self, paper: str) -> list[Read]:
        """The tables that a paper's claims and printed numbers are compared with."""
        judged = [claim.reads for claim in ledger.claims_of(paper) if claim.judge]
        compared = [numbers.reads for numbers in model.numbers_of(paper)]
        tables = dict.fromkeys(ref for reads in judged + compared for ref in reads.values())
        return [self.jobs.read("", reference) for reference in tables]

    def _reported(self, paper: str) -> list[str]:
        """The file of a paper's printed numbers, if there is one."""
        return [file for file in (f"config/reported/{paper}.csv",) if (self.root / file).is_file()]

    def claim_settings(self, wildcards: Any) -> dict[str, Any]:
        """What the claims of a paper are judged with, beside the tables."""
        situations = {
            c.id: self._situation(c) for c in ledger.claims_of(wildcards.paper) if c.judge
        }
        numbers = {
            f"{each.artifact}/{each.quantity}": self._bases(each)
            for each in model.numbers_of(wildcards.paper)
        }
        return {"preset": self.config["preset"], "results": self.results,
                "numbers": numbers, "situations": situations}  # fmt: skip

    def _bases(self, numbers: model.Numbers) -> dict[str, dict[str, Any]]:
        """Part -> the fields of the `reported.Basis` of some printed numbers."""
        reads, free = self._reads(numbers.reads), numbers.scale_free
        context, bases = self.footers.context(reads), {}
        for part, always in numbers.parts.items():
            rows = part.split()
            scale = self.footers.scale(reads, rows=rows)
            known = False if free else (True if always else None)
            words = () if free else self.footers.differences(reads, rows=rows)
            bases[part] = {
                "kind": numbers.kind,
                "papers": free or (scale.sizes and scale.originals and not always),
                "stand_in": scale.stand_in and not free,
                "differs": "; ".join(filter(None, (*words, always))),
                "grade": self.footers.grade(reads, rows, reduced=known),
                "context": context,
            }
        return bases

    def _situation(self, claim: ledger.Claim) -> dict[str, Any]:
        """The fields of the `ledger.Situation` of a claim in this configuration."""
        reads = self._reads(claim.reads)
        scale, own = self.footers.scale(reads), claim.own_sizes
        return {
            "unmet": unmet(claim.needs, self.config, paper_scale=scale.papers),
            "sizes": scale.sizes
            if own is None
            else not unmet(own, self.config, paper_scale=scale.papers),
            "stand_in": scale.stand_in,
            "grade": self.footers.grade(reads),
            "context": self.footers.context(reads),
        }

    def _reads(self, reads: Mapping[str, str]) -> list[Read]:
        return [self.jobs.read("", reference, name) for name, reference in reads.items()]

    def claim_code(self, wildcards: Any) -> dict[str, Any]:
        """The code that judges a paper's claims, its claims, and the numbers it prints."""
        paper = wildcards.paper
        modules = *model.judging_modules(paper), "finitewidth.claims.job"
        texts = filter(None, (text_file(paper, "claims"), *self._reported(paper)))
        return self.code_of(*modules, script="claims", texts=texts)

    def caption_code(self, paper: str) -> dict[str, Any]:
        """The code and the templates that the captions of a paper are written from."""
        texts = self.caption_inputs(paper)["templates"]
        return self.code_of("finitewidth.captions", script="captions", texts=texts)

    def caption(self, artifact: str) -> str:
        """The caption of an artifact, with settings and verdicts of this run."""
        return f"{self.results}/{self.jobs[artifact].paper}/captions/{artifact}.rst"

    def captions(self, paper: str | None = None) -> list[str]:
        """The captions of all artifacts, of one paper or of all."""
        return [self.caption(entry.artifact) for entry in self.of(paper)]

    def caption_jobs(self, paper: str, wildcards: Any = None) -> dict[str, dict[str, Any]]:
        """Artifact -> what its caption is written from."""
        jobs = {}
        for entry in self.of(paper):
            template = self._template_of(entry.artifact)
            text = (self.root / template).read_text(encoding="utf-8")
            try:
                shown = {name: chosen(self.config, name) for name in settings_of(text)}
            except ConfigError as error:
                raise ConfigError(f"{template}: {error}") from None
            jobs[entry.artifact] = {
                "template": template, "settings": shown, "output": self.caption(entry.artifact),
                "footer": self.footers.footer(entry.artifact),
            }  # fmt: skip
        return jobs

    def _template_of(self, artifact: str) -> str:
        return f"{PAPERS}/{self.jobs[artifact].paper}/captions/{artifact}.rst"

    def caption_inputs(self, paper: str) -> dict[str, list[str]]:
        """The templates of the captions of a paper, and the verdicts that they tell."""
        entries = self.of(paper)
        templates = [self._template_of(entry.artifact) for entry in entries]
        for template in templates:
            if not (self.root / template).is_file():
                raise ConfigError(f"{Path(template).stem} has no caption; write {template}")
        verdicts = [self.verdict_tables(each)["verdicts"] for each in self.judged_in(paper)]
        return {"templates": templates, "verdicts": verdicts}

    def judged_in(self, paper: str) -> list[str]:
        """The papers with claims on the artifacts of a paper."""
        names = {entry.artifact for entry in self.of(paper)}
        return [
            p.name
            for p in self.papers
            if any(names.intersection(claim.artifacts) for claim in ledger.claims_of(p.name))
        ]

    def packages(self, wildcards: Any = None) -> dict[str, dict[str, Any]]:
        """Data package -> what it describes, one for each paper."""
        return {
            f"{self.results}/{paper.name}/datapackage.json": {
                "paper": paper.name, "title": paper.title, "preset": self.config["preset"],
                "resources": [
                    {
                        "artifact": entry.artifact, "title": f"{entry.label}: {entry.title}",
                        "footer": self.footers.footer(entry.artifact), "module": entry.module,
                        "file": self.jobs.outputs(entry.artifact)["csv"],
                        "caption": self.caption(entry.artifact),
                        "inputs": {read.reference: list(read.files)
                                   for read in self.jobs[entry.artifact].reads},
                    }
                    for entry in paper.artifacts
                ],
            }
            for paper in self.papers
        }  # fmt: skip

    def report_settings(self, wildcards: Any = None) -> dict[str, Any]:
        """What the report is told beside the jobs: papers, and artifacts with their files."""
        artifacts = [
            {
                "artifact": entry.artifact, "paper": entry.paper, "kind": entry.kind,
                "label": entry.label, "title": entry.title,
                "extra": entry.extra, "first_page": entry.first_page,
                "files": self.jobs.outputs(entry.artifact), "caption": self.caption(entry.artifact),
                "scale": self.footers.status(entry.artifact),
                "grade": self.footers.grade_of_artifact(entry.artifact),
            }
            for entry in self.artifacts
        ]  # fmt: skip
        papers = {paper.name: paper.version_of for paper in self.papers}
        data = self.config["data"]
        return {
            "preset": self.config["preset"], "results": self.results,
            "papers": list(papers), "versions": papers, "errata": self.errata(),
            "artifacts": artifacts,
            "datasets": [describe(data[role], role, data["imagefolder"]) for role in ROLES],
        }  # fmt: skip

    def report_jobs(self, rules: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Job -> its files and footer: every rule without wildcards, and every training.

        ``rules`` are Snakemake's own by name, so that nothing is listed twice.
        """
        declared = {job.name: job for job in self.declared()}
        jobs = {
            name: {
                "inputs": [str(file) for file in rule.input if isinstance(file, str)],
                "outputs": [str(file) for file in rule.output],
                "log": "".join(map(str, rule.log)), "benchmark": str(rule.benchmark or ""),
                "footer": self.footers.footer(name) if name in self.jobs.artifacts else "",
                "paper": declared[name].paper if name in declared else "",
            }
            for name, rule in rules.items() if not rule.has_wildcards()
        }  # fmt: skip
        for name in self.jobs.trainings:
            paper, training = name.split("/")
            jobs[f"train {name}"] = {
                "inputs": list(self.jobs[name].inputs.values()),
                "outputs": list(self.jobs.outputs(name).values()),
                "log": f"{self.results}/logs/{paper}/training/{training}.log",
                "benchmark": f"{self.results}/benchmarks/{paper}/training/{training}.tsv",
                "footer": "", "paper": paper,
            }  # fmt: skip
        return jobs

    def forecast(self) -> str:
        """What every artifact, every paper and everything takes, as a table."""
        sums = {entry.artifact: [entry.artifact] for entry in self.artifacts}
        for paper in self.captioned:
            sums[f"all of {paper}"] = [entry.artifact for entry in self.of(paper)]
        on_gpu = {*self.jobs.trainings, *filter(self.on_device, self.jobs.experiments)}
        sums["everything"] = [*self.needs]
        return costs.forecast(self.needs, self.costs, sums, on_gpu)
