"""Which claims are judged again under other base seeds, and with what.

These are the claims that a run decides, that rest on something drawn or trained at random, and for
which everything upstream takes at most ``robustness.minutes`` of CPU time by the table of costs.
"""

from collections.abc import Mapping
from functools import cache
from math import inf
from types import SimpleNamespace
from typing import Any

from finitewidth.claims import ledger, robustness
from finitewidth.common.provenance import fingerprint
from finitewidth.common.references import table_file
from finitewidth.pipeline.jobs import Read
from finitewidth.pipeline.plan import Plan


class Robustness:
    """What rules ``robustness`` and ``robustness_claims`` ask for, of one configuration.

    Everything is found when it is asked for, because most runs ask for nothing.
    """

    def __init__(self, plan: Plan):
        self._plan = plan
        self._settings = cache(self._settings_of)
        self._chosen = cache(self._chosen_of)

    def targets(self, wildcards: Any = None) -> list[str]:
        """The files of all papers with claims to judge again."""
        folder = self._plan.results
        return [file for paper in self.papers()
                for file in robustness.files_of(folder, paper).values()]  # fmt: skip

    def papers(self) -> list[str]:
        """The papers with claims to judge again."""
        return [paper.name for paper in self._plan.papers if self._chosen(paper.name)]

    def claims(self, wildcards: Any) -> list[str]:
        """The ids of the claims of a paper that are judged again."""
        return [claim.id for claim in self._chosen(wildcards.paper)]

    def inputs(self, wildcards: Any) -> list[str]:
        """The tables that these claims read."""
        tables = (ref for claim in self._chosen(wildcards.paper) for ref in claim.reads.values())
        return [
            f"{self._plan.results}/{table_file(reference)}" for reference in dict.fromkeys(tables)
        ]

    def settings(self, wildcards: Any) -> dict[str, Any]:
        """What they are judged with, as `Plan.claim_settings` tells it."""
        settings = self._settings(wildcards.paper)
        situations = {claim: settings["situations"][claim] for claim in self.claims(wildcards)}
        common = {key: settings[key] for key in ("preset", "results")}
        return {**common, "situations": situations}

    def stamp(self, wildcards: Any) -> dict[str, Any]:
        """Base seed and identity, for the provenance."""
        return {"base_seed": self._plan.config["seed"], "identity": self.identity(wildcards.paper)}

    def code(self, wildcards: Any) -> dict[str, Any]:
        """The code that judges the claims of a paper again."""
        return self._plan.code_of("finitewidth.claims.robustness", script="robustness")

    def identities(self) -> dict[str, str]:
        """Paper -> identity of the verdicts that this code and these settings would give."""
        return {paper: self.identity(paper) for paper in self.papers()}

    def identity(self, paper: str) -> str:
        """A digest of all that the verdicts of a paper rest on, the base seed excepted."""
        wildcards = SimpleNamespace(paper=paper)
        reads = [read for claim in self._chosen(paper) for read in self._reads(claim)]
        every, jobs = self._plan.jobs.closure(reads)
        situations = self.settings(wildcards)["situations"]
        return fingerprint({
            "claims": {claim: _without_context(each) for claim, each in situations.items()},
            "judged_by": self._plan.claim_code(wildcards),
            "jobs": {name: [self._code(name), dict(self._plan.jobs[name].params)] for name in jobs},
            "data": sorted({file for read in every if read.role for file in read.files}),
        })  # fmt: skip

    def _code(self, job: str) -> str:
        if job in self._plan.trainings():
            return self._plan.code_of("finitewidth.training.job", script="train")
        return self._plan.code(job)

    def _settings_of(self, paper: str) -> dict[str, Any]:
        return self._plan.claim_settings(SimpleNamespace(paper=paper))

    def _chosen_of(self, paper: str) -> tuple[ledger.Claim, ...]:
        judged = [claim for claim in ledger.claims_of(paper) if claim.judge]
        if not judged:
            return ()
        situations = self._settings(paper)["situations"]
        return tuple(claim for claim in judged
                     if not situations[claim.id]["unmet"] and self._is_cheap(claim))  # fmt: skip

    def _is_cheap(self, claim: ledger.Claim) -> bool:
        reads = self._reads(claim)
        if not self._plan.footers.draws(reads):
            return False  # the same under every base seed
        _, jobs = self._plan.jobs.closure(reads)
        rows = [self._plan.costs.get(job) for job in jobs]
        seconds = sum(row.seconds if row else inf for row in rows)
        return seconds <= 60 * self._plan.config["robustness"]["minutes"]

    def _reads(self, claim: ledger.Claim) -> list[Read]:
        return [self._plan.jobs.read("", ref, name) for name, ref in claim.reads.items()]


def _without_context(situation: Mapping[str, Any]) -> dict[str, Any]:
    """A situation without the words that name the base seed."""
    return {key: value for key, value in situation.items() if key != "context"}
