"""Results in Python: what `fw.load` returns, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from tests.helpers.linked_project import link_project
from tests.helpers.made_up_provenance import provenance

import finitewidth as fw
from finitewidth.claims import ledger, verdicts
from finitewidth.claims.columns import PARTS, VERDICTS
from finitewidth.common.errors import ResultError
from finitewidth.papers.dgn.experiments import concepts as dgn
from finitewidth.papers.thesis.experiments import classical
from finitewidth.papers.thesis.figures import fig2_4
from finitewidth.records import result_files, tables
from finitewidth.records.provenance import digest_of

MADE_UP = {"text": "none", "integer": 3, "number": 0.1, "flag": True}
FIGURE = "thesis/figures/thesis_fig2_4.csv"
FIGURE_PROVENANCE = "provenance/thesis/thesis_fig2_4.json"


def rows_of(table: tables.Table, **values) -> pd.DataFrame:
    """One made-up row, with values of some columns."""
    row = {column.name: MADE_UP[column.type] for column in table}
    return pd.DataFrame([{**row, **values}])


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The project with no results; the current folder is below it."""
    link_project(tmp_path)
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    monkeypatch.chdir(notebooks)
    return tmp_path


def made(project, stamp: str, files: dict[str, pd.DataFrame], run="quick", **parameters) -> None:
    """Write tables of a run, and the provenance of the job that made them."""
    digests = {}
    for file, rows in files.items():
        name = f"results/{run}/{file}"
        missing = tables.MISSING if "/figures/" in file else ""
        result_files.write_table(project / name, rows, missing)
        digests[name] = digest_of(project / name)
    record = provenance("job", digests, parameters=parameters)
    result_files.write_json(project / f"results/{run}/{stamp}", record)


@pytest.fixture
def figure(project):
    """Figure 2.4 of preset quick; its rows."""
    rows = rows_of(fig2_4.TABLE)
    made(project, FIGURE_PROVENANCE, {FIGURE: rows}, footer="preset quick · 3 <draws>")
    return rows


def test_a_figure_has_rows_meanings_and_provenance(project, figure):
    loaded = fw.load("thesis_fig2_4")
    pd.testing.assert_frame_equal(loaded.rows, fig2_4.TABLE.checked(figure))
    assert loaded.columns == fig2_4.TABLE.columns
    assert loaded.title.startswith("Figure 2.4: Risk against model complexity")
    assert loaded.file == project / "results/quick" / FIGURE
    assert {"parameters", "code", "versions", "git", "wall_seconds"} <= set(loaded.provenance)
    assert fw.load("thesis_fig2_4", project=project).file == loaded.file


def test_a_result_shows_what_it_is(figure):
    loaded = fw.load("thesis_fig2_4")
    text = repr(loaded)
    page = loaded._repr_html_()
    for column in loaded.columns.values():
        assert f"{column.name} ({column.type}): {column.meaning}" in text
        assert f"<td>{column.name}</td>" in page
    assert "preset quick · 3 <draws>" in text
    assert "preset quick · 3 &lt;draws&gt;" in page


def test_the_table_of_an_experiment_has_the_types_of_its_columns(project):
    table = classical.TABLES["risks"]
    files = {"thesis/experiments/classical_risks.csv": rows_of(table)}
    made(project, "thesis/experiments/classical_provenance.json", files)
    loaded = fw.load("thesis_classical.risks")
    pd.testing.assert_frame_equal(loaded.rows, table.checked_all(rows_of(table)))
    assert loaded.columns == table.columns
    assert fw.load("thesis_classical").file == loaded.file  # its only table


def test_a_table_may_lack_its_optional_columns(project):
    table = dgn.TABLES["paths"]
    rows = rows_of(table).drop(columns=list(table.optional))
    stamp = "dgn/experiments/concepts_provenance.json"
    made(project, stamp, {"dgn/experiments/concepts_paths.csv": rows})
    loaded = fw.load("dgn_concepts.paths")
    assert list(loaded.columns) == list(loaded.rows) == list(rows)


def test_of_several_tables_one_is_named(project):
    with pytest.raises(fw.ConfigError, match=r"name one of its tables; it has thesis_risk\.drawn"):
        fw.load("thesis_risk")
    with pytest.raises(fw.ConfigError, match=r"no thesis_risk\.curve \(did you mean curves\?\)"):
        fw.load("thesis_risk.curve")


def test_arrays_are_listed(project):
    file = project / "results/quick/collapse/experiments/training_vgg_mnist_weights.npz"
    result_files.write_arrays(file, bias=np.arange(3.0), weight=np.ones((2, 3)))
    stamp = file.with_name("training_vgg_mnist_provenance.json")
    name = file.relative_to(project).as_posix()
    result_files.write_json(stamp, provenance("job", {name: digest_of(file)}))
    loaded = fw.load("collapse_training_vgg_mnist.weights")
    assert loaded.arrays["weight"].shape == (2, 3)
    assert loaded.rows["array"].tolist() == ["bias", "weight"]
    assert loaded.rows["entries"].tolist() == [3, 6]


def test_a_claim_has_its_comparisons_and_its_verdict(project):
    comparisons = [rows_of(PARTS, claim=name, threshold_low=-np.inf) for name in ("H01", "H02")]
    judged = [rows_of(VERDICTS, claim=name, value=np.nan) for name in ("H01", "H02")]
    files = {
        "claims/thesis_verdicts.csv": pd.concat(judged),
        "claims/thesis_parts.csv": pd.concat(comparisons),
    }
    made(project, "provenance/claims/thesis.json", files)
    loaded = fw.load("H02")
    assert loaded.rows["claim"].tolist() == ["H02"]
    assert loaded.verdict["claim"] == "H02"
    assert "verdict none: none" in repr(loaded)
    assert loaded.title in [claim.statement for claim in ledger.claims_of("thesis")]


def test_tables_of_claims_have_the_columns_that_are_written(tmp_path):
    verdict = verdicts.decide([verdicts.Part(name="a", value=1.0, low=0.0, paper=True)])
    assert ["claim", *verdict.parts[0]] == PARTS.names
    claim = ledger.claims_of("thesis")[0]
    situation = ledger.Situation(unmet=["too few draws"])
    rows = []
    for each in (verdict, ledger.judge(claim, {}, situation)):
        rows.append(ledger.verdict_row(claim, each, "quick", situation))
    assert list(rows[0]) == VERDICTS.names
    result_files.write_table(tmp_path / "rows.csv", pd.DataFrame(rows))
    assert len(tables.read(tmp_path / "rows.csv", VERDICTS, missing="")) == 2


@pytest.mark.parametrize(
    ("run", "command"),
    [
        ("quick", "`finitewidth run thesis_fig2_4`"),
        ("laptop", "`finitewidth run thesis_fig2_4 --preset laptop`"),
        ("quick-seed3", "`finitewidth run thesis_fig2_4 --preset quick --seed 3`"),
        ("mine", "`finitewidth run thesis_fig2_4` and the options of this run"),
    ],
)
def test_a_result_that_is_not_there_comes_with_the_command_that_makes_it(run, command, project):
    (project / "results/mine/provenance").mkdir(parents=True)
    with pytest.raises(ResultError, match="has not been made; make it with") as refused:
        fw.load("thesis_fig2_4", run=run)
    assert str(refused.value).endswith(command)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("thesis_figure2_4", r"did you mean thesis_fig2_4\?"),
        ("thesis_rsik.curves", r"did you mean thesis_risk\?"),
        ("H99", "no artifact, experiment or claim"),
    ],
)
def test_an_unknown_name_gets_the_nearest(name, message, project):
    with pytest.raises(fw.ConfigError, match=message):
        fw.load(name)


def test_an_unknown_run_and_a_folder_without_project_are_refused(project, tmp_path_factory):
    with pytest.raises(fw.ConfigError, match=r"run: 'smok' is unknown \(did you mean smoke\?\)"):
        fw.load("thesis_fig2_4", run="smok")
    with pytest.raises(fw.ConfigError, match=r"no clone of finitewidth; .* project=DIR"):
        fw.load("thesis_fig2_4", project=tmp_path_factory.mktemp("elsewhere"))


def test_a_file_that_its_job_did_not_write_is_refused(project, figure):
    file = project / "results/quick" / FIGURE
    file.write_text(file.read_text() * 2)
    with pytest.raises(ResultError, match=r"altered .*; delete it and run again: `finitewidth run"):
        fw.load("thesis_fig2_4")
    (project / "results/quick" / FIGURE_PROVENANCE).unlink()
    with pytest.raises(ResultError, match=r"the provenance of .*, is missing; delete"):
        fw.load("thesis_fig2_4")


def test_a_file_of_another_version_of_the_code_is_refused(project, figure):
    made(project, FIGURE_PROVENANCE, {FIGURE: figure.assign(more=1)})
    with pytest.raises(ResultError, match="other columns than the code defines now"):
        fw.load("thesis_fig2_4")
