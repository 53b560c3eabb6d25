"""Files and settings of the rule ``claims``: tables, and how they were computed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from finitewidth.claims import ledger
from finitewidth.claims.needs import Need, unmet
from finitewidth.common.number_words import rough_duration
from finitewidth.declarations.paper_files import text_file
from finitewidth.pipeline.costs import TABLE, Cost, read_costs
from finitewidth.pipeline.evidence import Evidence
from finitewidth.pipeline.footers import Footers
from finitewidth.pipeline.jobs import Input, Jobs, makers_of
from finitewidth.settings import presets


@dataclass(frozen=True)
class LargerPreset:
    """A preset that is larger than that of this run, with its settings and costs."""

    name: str
    config: Mapping[str, Any]
    costs: Mapping[str, Cost]

    def lacks(self, needs: Sequence[Need]) -> bool:
        """Whether some needs of a claim are not met at this preset."""
        return bool(unmet(needs, self.config, paper_scale=self.name == "paper"))


class ClaimInput:
    """The input of the rule ``claims``, for each paper."""

    def __init__(self, jobs: Jobs, evidence: Evidence, footers: Footers, root: Path):
        self._jobs = jobs
        self._config = jobs.config
        self._evidence = evidence
        self._footers = footers
        self._root = root

    def tables(self, paper: str) -> list[Input]:
        """The tables with which a paper's claims and printed numbers are compared."""
        judged = [claim.reads for claim in ledger.claims_of(paper) if claim.judge]
        compared = [numbers.reads for numbers in ledger.numbers_of(paper)]
        references: dict[str, None] = {}
        for inputs in judged + compared:
            references |= dict.fromkeys(inputs.values())
        return [self._jobs.input("", reference) for reference in references]

    def files(self, paper: str) -> dict[str, Any]:
        """The files that the rule reads: tables, texts of claims, printed numbers."""
        tables: list[str] = []
        for table in self.tables(paper):
            tables += table.files
        files: dict[str, Any] = {"tables": tables}
        texts = text_file(paper, "claims")
        if texts:
            files["claims"] = os.path.relpath(texts, self._root.resolve())
        printed = f"config/reported/{paper}.csv"
        if (self._root / printed).is_file():
            files["reported"] = printed
        return files

    def settings(self, paper: str) -> dict[str, Any]:
        """What the claims of a paper are judged with, beside the files."""
        situations = {}
        for claim in ledger.claims_of(paper):
            if claim.judge:
                situations[claim.id] = self._situation(claim)
        bases = {}
        for numbers in ledger.numbers_of(paper):
            bases[f"{numbers.artifact}/{numbers.quantity}"] = self._bases(numbers)
        return {
            "preset": self._config["preset"],
            "results": self._jobs.results,
            "numbers": bases,
            "situations": situations,
        }

    def _bases(self, numbers: ledger.Numbers) -> dict[str, dict[str, Any]]:
        """Part -> the fields of the `reported.Basis` of some printed numbers."""
        inputs = self._jobs.inputs("", numbers.reads)
        bases = {}
        for part, always in numbers.parts.items():
            bases[part] = self._basis(numbers, inputs, part, always)
        return bases

    def _basis(
        self, numbers: ledger.Numbers, inputs: Sequence[Input], part: str, always: str
    ) -> dict[str, Any]:
        """The fields of one basis; ``always`` says what differs from the paper at every preset."""
        rows = part.split()
        scale = self._evidence.scale(inputs, rows)
        differences: Sequence[str] = ()
        reduced: bool | None = None  # as the settings say
        if numbers.scale_free:
            reduced = False
        else:
            differences = self._evidence.differences(inputs, rows)
            if always:
                differences = (*differences, always)
                reduced = True
        is_at_scale = scale.sizes and scale.originals and not always
        return {
            "kind": numbers.kind,
            "papers": numbers.scale_free or is_at_scale,
            "stand_in": scale.stand_in and not numbers.scale_free,
            "differs": "; ".join(differences),
            "grade": self._evidence.grade(inputs, scale, reduced),
            "context": self._footers.context(inputs),
        }

    def _situation(self, claim: ledger.Claim) -> dict[str, Any]:
        """The fields of the `ledger.Situation` of a claim in this configuration."""
        inputs = self._jobs.inputs("", claim.reads)
        scale = self._evidence.scale(inputs)

        def lacking(needs: Sequence[Need]) -> list[str]:
            return unmet(needs, self._config, paper_scale=scale.papers)

        lacks = lacking(claim.needs)
        has_sizes = scale.sizes
        if claim.own_sizes is not None:
            has_sizes = not lacking(claim.own_sizes)
        reduced = True if lacking(claim.own_runs) else None  # None: as the settings say
        return {
            "unmet": lacks,
            "larger": self._smallest_that_meets(claim) if lacks else "",
            "papers": self._time_at(claim, self.larger[-1]) if self.larger else "",
            "sizes": has_sizes,
            "stand_in": scale.stand_in,
            "grade": self._evidence.grade(inputs, scale, reduced),
            "context": self._footers.context(inputs),
        }

    @cached_property
    def larger(self) -> list[LargerPreset]:
        """The presets that are larger than that of this run, the smallest first."""
        names = presets.PRESETS
        ours = self._config["preset"]
        if ours not in names:
            return []
        larger = []
        for name in names[names.index(ours) + 1 :]:
            config = presets.preset_only(name, self._root / "config")
            larger.append(LargerPreset(name, config, read_costs(self._root / TABLE, name)))
        return larger

    def _smallest_that_meets(self, claim: ledger.Claim) -> str:
        """The smallest preset that meets the needs of a claim, and its time; empty if none does."""
        for preset in self.larger:
            if not preset.lacks(claim.needs):
                return self._time_at(claim, preset)
        return ""

    def _time_at(self, claim: ledger.Claim, preset: LargerPreset) -> str:
        """How long the jobs behind a claim take at a larger preset, by forecast, in words."""
        inputs, _ = self._jobs.closure(self._jobs.inputs("", claim.reads))
        makers = dict.fromkeys(makers_of(inputs).values())
        seconds = sum(preset.costs[job].seconds for job in makers if job in preset.costs)
        duration = rough_duration(seconds)
        return f"preset {preset.name} takes {duration} of one core for it, by forecast"
