"""What the workflow asks of the package: which files, settings and footers a configuration means.

Imports no torch: Snakemake reads this at every start.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from finitewidth.claims import ledger, reported
from finitewidth.common import index, settings
from finitewidth.common.errors import ConfigError
from finitewidth.common.provenance import code_digest
from finitewidth.data.catalogue import ROLES, describe, source_for
from finitewidth.experiments.dgn import trainings as dgn_trainings
from finitewidth.experiments.npf import trainings as npf_trainings
from finitewidth.experiments.planned import PlannedTraining
from finitewidth.pipeline.costs.forecast import forecast
from finitewidth.pipeline.costs.requests import Requests, may_travel

FIGURE_FORMATS = ("pdf", "png", "svg", "csv")
TABLE_FORMATS = ("csv", "md", "tex")
ALSO = {"npf_fig1": ("json",), "npf0_fig1": ("json",)}  # what they draw, as nested lists


class Plan:
    """A checked configuration, and the files and parameters it means.

    Attributes:
        config: the settings.
        results: the folder of this preset's results.
        artifacts: the index of all artifacts.
        extras: what is made beside them.
    """

    def __init__(self, config: Mapping[str, Any], root: str | Path):
        """Check ``config``; ``root`` is the folder of the Snakefile.

        Raises:
            ConfigError: a setting is unknown, impossible or contradicts another.
        """
        self.folder = Path(root) / "config"
        settings.check(config, Path(root) / "workflow/schemas")
        for role in ROLES:
            source_for(role, config["data"])  # or be refused before anything is planned
        self.config = config
        self.results = f"results/{config['preset']}"
        self.artifacts = index.read_index(self.folder / "artifacts.tsv")
        self.extras = index.read_extras(self.folder / "extras.tsv")
        self._trainings: dict[str, dict[str, PlannedTraining]] = {
            "npf": npf_trainings.trainings(config["npf"]),
            "dgn": dgn_trainings.trainings(config["dgn"]),
        }
        self.requests = Requests(config, self.trainings())
        self._preset = settings.preset_only(config["preset"], self.folder)
        self._paper = settings.preset_only("paper", self.folder)

    def targets(self, paper: str | None = None) -> list[str]:
        """The files of all finished artifacts, of one paper or of all."""
        entries = index.done(self.artifacts + self.extras, paper)
        return [file for entry in entries for file in self.files(entry.artifact).values()]

    def entry(self, artifact: str) -> index.Artifact:
        """The artifact of that id.

        Raises:
            ConfigError: the index has no such artifact.
        """
        for entry in self.artifacts + self.extras:
            if entry.artifact == artifact:
                return entry
        raise ConfigError(f"artifact {artifact!r} stands neither in the index nor among the extras")

    def label(self, artifact: str) -> str:
        """How the paper calls it: ``Figure 3``, ``Table 2``, ``Extra: theorem31``."""
        entry = self.entry(artifact)
        if entry in self.extras:
            return f"Extra: {entry.number}"
        return f"{entry.kind.capitalize()} {entry.number}"

    def files(self, artifact: str) -> dict[str, str]:
        """The files of an artifact by format."""
        entry = self.entry(artifact)
        folder = f"{self.results}/{entry.paper}/{entry.kind}s"
        formats = FIGURE_FORMATS if entry.kind == "figure" else TABLE_FORMATS
        formats += ALSO.get(artifact, ())
        return {suffix: f"{folder}/{artifact}.{suffix}" for suffix in formats}

    def log(self, job: str) -> str:
        """The log of the job ``<paper>_<name>``: an artifact or an experiment."""
        return f"{self.results}/logs/{job.split('_')[0]}/{job}.log"

    def benchmark(self, job: str) -> str:
        """The time and memory of the job ``<paper>_<name>``, as Snakemake measures them."""
        return f"{self.results}/benchmarks/{job.split('_')[0]}/{job}.tsv"

    def dataset(self, role: str) -> str:
        """The file of the source that plays the part of a paper's dataset."""
        return f"results/data/{source_for(role, self.config['data']).name}.npz"

    def tree(self, wildcards: Any) -> str | None:
        """The folder of images a source is read from, or None; what rule ``dataset`` depends on."""
        return self.config["data"]["imagefolder"].get(wildcards.source)

    def training_inputs(self, wildcards: Any) -> dict[str, str]:
        """The files rule ``train`` reads for the training its wildcards name."""
        training = self._training(wildcards)
        inputs = {"data": self.dataset(training.dataset)}
        if training.earlier:
            folder = f"{self.results}/{wildcards.paper}/training/{training.earlier}"
            inputs |= {"history": f"{folder}/history.csv", "weights": f"{folder}/weights.npz"}
        return inputs

    def training_settings(self, wildcards: Any) -> dict[str, Any]:
        """The `TrainingRun` that rule ``train`` carries out, as plain values."""
        return self._training(wildcards).run.to_mapping()

    def training_memory(self, wildcards: Any, attempt: int) -> int:
        """MB that rule ``train`` asks for."""
        return self.requests.memory(f"{wildcards.paper}/{wildcards.training}", attempt)

    def training_minutes(self, wildcards: Any, attempt: int) -> int:
        """Wall time that rule ``train`` asks for."""
        return self.requests.minutes(f"{wildcards.paper}/{wildcards.training}", attempt)

    def experiment_minutes(self, rule: str, wildcards: Any, attempt: int) -> int:
        """Wall time that the rule of a long experiment asks for."""
        return self.requests.minutes(rule, attempt)

    def group(self, rule: str, wildcards: Any) -> str | None:
        """With which others a job travels to a cluster; None: alone."""
        return self.requests.group(rule, wildcards, self._renderers())

    def may_travel(self, rule: str) -> bool:
        """Whether jobs of a rule can travel with others."""
        return may_travel(rule, self._renderers())

    def _renderers(self) -> dict[str, str]:
        return {entry.artifact: entry.paper for entry in self.artifacts + self.extras}

    def training_names(self, paper: str) -> list[str]:
        """The names of a paper's trainings, for the wildcard of rule ``train``."""
        return list(self._trainings.get(paper, {}))

    def _training(self, wildcards: Any) -> PlannedTraining:
        return self._trainings[wildcards.paper][wildcards.training]

    def histories(self, paper: str, rows: Sequence[str]) -> list[str]:
        """The histories of a paper's trainings that belong to ``rows``, in the order planned."""
        return [
            f"{self.results}/{paper}/training/{name}/history.csv"
            for name, training in self._trainings.get(paper, {}).items()
            if training.run.row in rows
        ]

    def titles(self, *roles: str) -> dict[str, str]:
        """What is shown in the place of each of the papers' datasets, stand-ins named as such."""
        trees = self.config["data"]["imagefolder"]
        return {role: describe(self.config["data"][role], role, trees) for role in roles}

    def footer(
        self,
        paper: str,
        sections: Sequence[str],
        *roles: str,
        artifact: str | None = None,
        parts: Sequence[str] = (),
    ) -> str:
        """The line below a figure or table: `context` of sections of one paper."""
        return self.context([(paper, section) for section in sections], roles, artifact, parts)

    def context(
        self,
        sections: Sequence[tuple[str, str]],
        roles: Sequence[str],
        artifact: str | None = None,
        parts: Sequence[str] = (),
    ) -> str:
        """What was computed with which settings: preset, data, runs, what stands in for what.

        A section, (paper, name), counts ``runs`` or ``draws``; one with neither is computed
        exactly. Where an artifact shows but some ``parts`` of its one section, these count. Of one
        with ``shown`` a figure, the ``artifact``, may show the first runs only. A preset is called
        modified if the command line changes one of the ``sections`` shown or the source of one of
        the datasets. More draws than the paper's are no stand-in.
        """
        facts = self._facts(self.config, sections, roles)
        preset = self.config["preset"]
        modified = facts != self._facts(self._preset, sections, roles)
        words = [f"preset {preset}{', modified' * modified}", *self.titles(*roles).values()]
        shown = {name: self.config[paper][name] for paper, name in sections}
        words += _pooled(shown)
        counted = {part: facts[part] for facts in shown.values() for part in parts} or shown
        words.append(_counted(counted, artifact))
        if self._reduced(sections, roles):
            words.append("stand-in for the paper's sizes")
        return " · ".join(words)

    def at_papers_scale(self, sections: Sequence[tuple[str, str]], roles: Sequence[str]) -> bool:
        """Whether nothing is reduced and no dataset stands in for another."""
        ours, papers = self.config["data"], self._paper["data"]
        originals = all(ours[role] == papers[role] for role in roles)
        return originals and not self._reduced(sections, roles)

    def comparable(self, paper: str, section: str, *roles: str) -> dict[str, bool]:
        """For each dataset whether what a section does to it is `at_papers_scale`."""
        return {role: self.at_papers_scale([(paper, section)], [role]) for role in roles}

    def _reduced(self, sections: Sequence[tuple[str, str]], roles: Sequence[str]) -> bool:
        facts, papers = (self._facts(config, sections, roles)[:-1]
                         for config in (self.config, self._paper))  # fmt: skip
        return any(map(_smaller, facts, papers))

    @staticmethod
    def _facts(
        config: Mapping[str, Any], sections: Sequence[tuple[str, str]], roles: Sequence[str]
    ) -> list[Any]:
        """The settings of the sections, and last the sources of the datasets."""
        sources = {role: config["data"][role] for role in roles}
        return [config[paper][section] for paper, section in sections] + [sources]

    def verdicts(self) -> list[str]:
        """The files of verdicts and numbers of all papers."""
        kinds = ("verdicts", "parts", "numbers")
        return [f"{self.results}/claims/{paper}_{kind}.csv"
                for paper in index.PAPERS for kind in kinds]  # fmt: skip

    def errata(self) -> str:
        """The table of the papers' misprints."""
        return f"{self.results}/errata/experiments/errata.csv"

    def claim_inputs(self, wildcards: Any) -> dict[str, Any]:
        """The files rule ``claims`` reads for a paper: tables, and the numbers it prints."""
        judged = [claim.reads for claim in self._claims(wildcards.paper) if claim.judge]
        compared = [numbers.reads for numbers in reported.numbers_of(wildcards.paper)]
        tables = dict.fromkeys(file for reads in judged + compared for file in reads.values())
        inputs = {"reported": f"config/reported/{wildcards.paper}.csv"}
        return {"tables": [f"{self.results}/{file}" for file in tables], **inputs}

    def claim_settings(self, wildcards: Any) -> dict[str, Any]:
        """What a paper's claims are judged with, beside the tables."""
        contexts, comparable = {}, {}
        for claim in self._claims(wildcards.paper):
            if claim.judge:
                contexts[claim.id] = self.context(claim.sections, claim.roles)
        for numbers in reported.numbers_of(wildcards.paper):
            key = f"{numbers.artifact}/{numbers.quantity}"
            scale = self.at_papers_scale(numbers.sections, numbers.roles)
            contexts[key] = self.context(numbers.sections, numbers.roles)
            comparable[key] = numbers.scale_free or scale
        common = {"preset": self.config["preset"], "results": self.results}
        return {**common, "contexts": contexts, "comparable": comparable}

    @staticmethod
    def claim_code(wildcards: Any) -> str:
        """Digest of the code that judges a paper's claims."""
        paper = "npf" if wildcards.paper == "npf0" else wildcards.paper
        return code_digest(f"finitewidth.claims.{paper}", "finitewidth.claims.job")

    def report_settings(self) -> dict[str, Any]:
        """What the report is told beside the jobs: the artifacts with the files of each."""
        artifacts = [
            {
                "artifact": entry.artifact, "paper": entry.paper, "kind": entry.kind,
                "label": self.label(entry.artifact), "title": entry.title, "status": entry.status,
                "extra": entry in self.extras, "files": self.files(entry.artifact),
            }
            for entry in self.artifacts + self.extras
        ]  # fmt: skip
        common = {"preset": self.config["preset"], "results": self.results}
        return {**common, "errata": self.errata(), "artifacts": artifacts}

    def report_jobs(self, rules: Iterable[Any]) -> dict[str, dict[str, Any]]:
        """Job -> its files and footer: every rule without wildcards, and every training.

        ``rules`` are Snakemake's own, so that nothing is listed twice.
        """
        rules = list(rules)
        jobs: dict[str, dict[str, Any]] = self.graph(rules)
        for rule in rules:
            if rule.name in jobs:
                jobs[rule.name] |= {
                    "log": "".join(map(str, rule.log)),
                    "benchmark": str(rule.benchmark or ""),
                    "footer": rule.params.get("footer") or "",
                }
        return jobs | {f"train {name}": self._training_job(name) for name in self.trainings()}

    def _training_job(self, name: str) -> dict[str, Any]:
        paper, training = name.split("/")
        inputs = self.training_inputs(SimpleNamespace(paper=paper, training=training))
        folder = f"{self.results}/{paper}/training/{training}"
        return {
            "inputs": list(inputs.values()),
            "outputs": [f"{folder}/{file}"
                        for file in ("history.csv", "weights.npz", "provenance.json")],
            "log": f"{self.results}/logs/{paper}/training/{training}.log",
            "benchmark": f"{self.results}/benchmarks/{paper}/training/{training}.tsv",
            "footer": "",
        }  # fmt: skip

    def captions(self) -> list[str]:
        """The captions of all finished artifacts."""
        entries = index.done(self.artifacts + self.extras)
        return [f"workflow/report/{entry.artifact}.rst" for entry in entries]

    @staticmethod
    def _claims(paper: str) -> tuple[ledger.Claim, ...]:
        return ledger.claims_of(paper) if paper in ledger.PAPERS else ()

    def graph(self, rules: Iterable[Any]) -> dict[str, dict[str, list[str]]]:
        """What every rule without wildcards reads and makes, from Snakemake's own ``rules``."""
        return {
            rule.name: {
                "inputs": [str(file) for file in rule.input if isinstance(file, str)],
                "outputs": [str(file) for file in rule.output],
            }
            for rule in rules
            if not rule.has_wildcards()
        }

    def forecast(self, rules: Mapping[str, Mapping[str, Sequence[str]]], gpu_tflops: float) -> str:
        """What every artifact will cost, as a table; ``rules`` as of `graph`."""
        entries = index.done(self.artifacts + self.extras)
        return forecast(self.config, entries, rules, self.trainings(), gpu_tflops)

    def trainings(self) -> dict[str, PlannedTraining]:
        """All trainings, by ``paper/name``."""
        return {
            f"{paper}/{name}": training
            for paper, planned in self._trainings.items()
            for name, training in planned.items()
        }

    def gpus(self) -> int:
        """How many GPUs a training asks a scheduler for."""
        return int(self.config["device"] != "cpu")


def _pooled(sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """That images are averaged over squares of pixels, and in which sections if not in all."""
    pools: dict[int, list[str]] = {}
    for name, facts in sections.items():
        pools.setdefault(facts.get("pool", 1), []).append(name)
    return [
        f"pixels averaged {pool}×{pool}" + f" ({'/'.join(names)})" * (len(pools) > 1)
        for pool, names in pools.items()
        if pool > 1
    ]


def _counted(sections: Mapping[str, Mapping[str, Any]], artifact: str | None) -> str:
    """``3/5 runs (stages/nu)``, ``20 runs drawn, 10 shown``, ``10,000 draws``, or none at all."""
    for unit in ("runs", "draws"):
        counts = {name: f"{facts[unit]:,}" for name, facts in sections.items() if unit in facts}
        if counts:
            names = f" ({'/'.join(counts)})" if len(counts) > 1 else ""
            first = "".join(_first_shown(facts, artifact) for facts in sections.values())
            numbers = "/".join(counts.values())
            return f"{numbers} {unit[:-1] if numbers == '1' else unit}{names}{first}"
    return "computed exactly, no draws"


def _first_shown(facts: Mapping[str, Any], artifact: str | None) -> str:
    """That an artifact shows but some of a section's runs, where it does."""
    if artifact is None or "shown" not in facts:
        return ""
    shown = facts["shown"]
    count = shown[artifact] if isinstance(shown, Mapping) else shown
    return f" drawn, {count:,} shown" if count < facts["runs"] else ""


def _smaller(ours: Mapping[str, Any], papers: Mapping[str, Any]) -> bool:
    """Whether a section differs from the paper's by more than a larger number of draws."""
    if ours.get("draws", 0) < papers.get("draws", 0):
        return True
    return {**ours, "draws": 0} != {**papers, "draws": 0}
