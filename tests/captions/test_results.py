"""All captions render from the tables of real runs, where there are any.

``results/smoke`` and ``results/quick`` of the project, or the same folders below the one that the
environment variable FINITEWIDTH_RESULTS names.
"""

import os
from pathlib import Path

import pytest
from tests.captions.rendering import ROOT, caption_of, refuse_flaws

from finitewidth.captions.job import read_verdicts
from finitewidth.common import result_files
from finitewidth.common.declarations import artifacts_of, done, read_papers
from finitewidth.common.references import table_file

FINISHED = {one.artifact: one for one in done(artifacts_of(read_papers(ROOT / "workflow/papers")))}
RESULTS = Path(os.environ.get("FINITEWIDTH_RESULTS", ROOT / "results"))


@pytest.mark.parametrize("preset", ["smoke", "quick"])
@pytest.mark.parametrize("artifact", FINISHED)
def test_a_caption_renders_from_the_tables_of_a_run(artifact, preset):
    references = FINISHED[artifact].of
    files = {name: _file(reference, preset) for name, reference in references.items()}
    missing = [file for file in files.values() if not file.is_file()]
    if missing:
        pytest.skip(f"no run of preset {preset} at hand: {missing[0]} is missing")
    tables = {name: result_files.read_table(file) for name, file in files.items()}
    verdicts = read_verdicts(sorted((RESULTS / preset / "claims").glob("*_verdicts.csv")))
    refuse_flaws(caption_of(artifact, tables, verdicts))


def _file(reference, preset):
    """The file of a table of a run, or of a paper's printed numbers."""
    if reference.startswith("reported/"):
        return ROOT / f"config/{reference}.csv"
    return RESULTS / preset / table_file(reference)
