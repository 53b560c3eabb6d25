"""Rows falsified on disk flip the verdicts that rest on them, through to the report; no others."""

import importlib

import pandas as pd
import pytest
from tests.helpers.made_up_provenance import write_provenance
from tests.helpers.project import ROOT

from finitewidth.claims import job, ledger, verdicts
from finitewidth.declarations.papers import artifacts_of, paper_names, read_papers
from finitewidth.declarations.references import table_file
from finitewidth.records import result_files
from finitewidth.report.findings import read_findings

ARTIFACTS = artifacts_of(read_papers(ROOT / "workflow/papers"))
JUDGED = [
    paper
    for paper in paper_names(ROOT / "workflow/papers")
    if any(c.judge for c in ledger.claims_of(paper))
]


def tables_of(claim, supporting):
    """File -> made-up rows of a claim."""
    made = importlib.import_module(f"tests.claims.synthetic.{claim.paper}").ROWS[claim.id]
    rows = made[0 if supporting else 1]()
    return {table_file(claim.reads[name]): table for name, table in rows.items()}


def side_by_side(paper):
    """Judged claims whose supporting rows can lie in one folder, with these rows."""
    files = {}
    claims = []
    for claim in filter(lambda claim: claim.judge, ledger.claims_of(paper)):
        rows = tables_of(claim, supporting=True)
        if all(table.equals(files.get(file, table)) for file, table in rows.items()):
            files |= rows
            claims.append(claim)
    return claims, files


class Folder:
    """A results folder of one paper, judged as the workflow does."""

    def __init__(self, results, paper, files):
        self.results = results
        self.paper = paper
        self.files = tuple(files)
        self.write(files)

    def write(self, files):
        for file, rows in files.items():
            (self.results / file).parent.mkdir(parents=True, exist_ok=True)
            result_files.write_table(self.results / file, rows)

    def judged(self):
        kinds = ("verdicts", "parts", "numbers")
        outputs = {kind: self.results / f"claims/{self.paper}_{kind}.csv" for kind in kinds}
        (self.results / "claims").mkdir(exist_ok=True)
        settings = {
            "preset": "paper",
            "results": self.results,
            "numbers": {},
            "situations": {c.id: {} for c in ledger.claims_of(self.paper)},
        }
        tables = [self.results / file for file in self.files]
        reported = ROOT / f"config/reported/{self.paper}.csv"
        job.run_claims(self.paper, tables, reported, outputs, settings)
        return {row["claim"]: row for row in result_files.read_rows(outputs["verdicts"])}

    def told(self):
        """What the report tells of the paper."""
        entries = []
        for e in ARTIFACTS:
            entries.append(
                {
                    "artifact": e.artifact,
                    "paper": e.paper,
                    "kind": e.kind,
                    "label": e.number,
                    "title": e.title,
                    "extra": e.extra,
                    "first_page": 0,
                    "files": {},
                }
            )
        settings = {
            "preset": "paper",
            "results": self.results,
            "overrides": [],
            "jobs": {},
            "outdated": {},
            "papers": list(paper_names(ROOT / "workflow/papers")),
            "versions": {},
            "artifacts": entries,
            "datasets": [],
            "errata": self.results / "errata.csv",
        }
        write_provenance(self.results)
        return next(
            paper for paper in read_findings(settings, ROOT).papers if paper.name == self.paper
        )


def test_verdicts_in_words_of_an_older_version_are_not_shown(tmp_path, monkeypatch):
    claims, files = side_by_side("thesis")
    monkeypatch.setattr(ledger, "claims_of", lambda name: claims if name == "thesis" else ())
    monkeypatch.setattr(ledger, "numbers_of", lambda name: ())
    folder = Folder(tmp_path, "thesis", files)
    first, *others = folder.judged().values()
    file = tmp_path / "claims/thesis_verdicts.csv"
    first = dict(first) | {"verdict": "not decidable here"}
    result_files.write_table(file, pd.DataFrame([first, *others]))
    told = {claim["claim"]: claim for claim in folder.told().claims}
    assert told[first["claim"]]["verdict"] == verdicts.NOT_RUN
    assert "words of another version of finitewidth" in told[first["claim"]]["reason"]


@pytest.mark.parametrize("paper", JUDGED)
def test_a_falsified_table_flips_the_claims_that_read_it_and_no_others(
    paper, tmp_path, monkeypatch
):
    claims, files = side_by_side(paper)
    monkeypatch.setattr(ledger, "claims_of", lambda name: claims if name == paper else ())
    monkeypatch.setattr(ledger, "numbers_of", lambda name: ())
    folder = Folder(tmp_path, paper, files)
    before = folder.judged()
    assert {row["verdict"] for row in before.values()} == {verdicts.SUPPORTED}
    victim = claims[0]
    falsified = tables_of(victim, supporting=False)
    folder.write(falsified)
    after = folder.judged()
    flipped = after[victim.id]["verdict"]
    assert flipped in (verdicts.CONTRADICTED, verdicts.IN_PART, verdicts.NO_THRESHOLD)
    assert int(after[victim.id]["failing"])
    untouched = [
        c.id for c in claims if not set(map(table_file, c.reads.values())) & set(falsified)
    ]
    assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
    told = folder.told()
    assert {c["claim"]: c["verdict"] for c in told.claims}[victim.id] == flipped
    shown = [a for a in told.artifacts if a.artifact in victim.artifacts]
    assert all(flipped in a.rollup["claims"] for a in shown)
    assert flipped in told.rollup["claims"]
