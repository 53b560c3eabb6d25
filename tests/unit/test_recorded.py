"""The provenance of a job; code and inputs that change while it works; what `verify` says later."""

import json
import os
import shutil
from types import SimpleNamespace

import pytest

from finitewidth.common.provenance import code_of, digest_of
from finitewidth.common.verification import Provenances
from finitewidth.pipeline.recorded import recorded

RESULTS = "results/quick"
TABLE, FIGURE = f"{RESULTS}/npf/experiments/nu.csv", f"{RESULTS}/npf/figures/npf_fig3.csv"


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A folder with a script, in which jobs run."""
    (tmp_path / "workflow/scripts").mkdir(parents=True)
    (tmp_path / "workflow/scripts/job.py").write_text("print(1)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def job(rule, inputs, output):
    """The object `snakemake` of a job that makes one file."""

    class Files(list):
        def __init__(self, **named):
            super().__init__(named.values())
            self.named = named

        def __getitem__(self, key):
            return self.named[key] if isinstance(key, str) else super().__getitem__(key)

        def items(self):
            return self.named.items()

    code = code_of(["finitewidth.common.errors"], ["workflow/scripts/job.py"], ".")
    return SimpleNamespace(
        rule=rule, wildcards={}, scriptdir=os.path.abspath("workflow/scripts"), input=inputs,
        log=[f"{RESULTS}/logs/{rule}.log"], params={"code": code, "settings": {"runs": 2}},
        output=Files(csv=output, provenance=f"{RESULTS}/provenance/npf/{rule}.json"),
    )  # fmt: skip


def run(rule, inputs, output, content, during=lambda: None):
    with recorded(job(rule, inputs, output)):
        os.makedirs(os.path.dirname(output), exist_ok=True)
        with open(output, "w") as stream:
            stream.write(content)
        during()


@pytest.fixture
def made(project):
    """A table and a figure of it."""
    run("npf_nu", [], TABLE, "a\n1\n")
    run("npf_fig3", [TABLE], FIGURE, "b\n2\n")
    return project


def test_a_provenance_holds_digests_code_settings_versions_time_and_memory(made):
    stamp = json.loads((made / RESULTS / "provenance/npf/npf_fig3.json").read_text())
    assert stamp["job"] == "npf_fig3"
    assert stamp["digests"] == {
        "inputs": {TABLE: digest_of(TABLE)}, "outputs": {FIGURE: digest_of(FIGURE)}
    }  # fmt: skip
    assert stamp["code"]["files"] == ["workflow/scripts/job.py"]
    assert stamp["parameters"] == {"settings": {"runs": 2}}
    assert {"versions", "machine", "git", "wall_seconds", "cpu_seconds", "memory_mb"} <= set(stamp)
    assert Provenances(RESULTS, made).problems() == []


@pytest.mark.parametrize("what", ["workflow/scripts/job.py", TABLE])
def test_a_job_fails_if_its_code_or_its_input_changes_meanwhile(made, what):
    os.remove(made / RESULTS / "provenance/npf/npf_fig3.json")

    def change():
        with open(what, "a") as stream:
            stream.write("3\n")

    with pytest.raises(SystemExit, match="changed"):
        run("npf_fig3", [TABLE], FIGURE, "b\n2\n", during=change)
    assert not (made / RESULTS / "provenance/npf/npf_fig3.json").exists()


def test_what_is_altered_foreign_or_without_provenance_is_named(made):
    (made / FIGURE).write_text("b\n3\n")
    shutil.copy(made / TABLE, made / RESULTS / "npf/experiments/other.csv")
    lines = Provenances(RESULTS, made).problems()
    assert lines == [
        f"{FIGURE}: was altered after its job had written it; delete it and run again",
        f"{RESULTS}/npf/experiments/other.csv: has no provenance of this run; delete it and run "
        "again",
    ]


def test_a_figure_of_another_table_or_of_other_code_is_of_another_run(made):
    run("npf_nu", [], TABLE, "a\n5\n")
    (line,) = Provenances(RESULTS, made).problems()
    assert line.startswith(f"{FIGURE}: is of another run: its job read another {TABLE}")
    run("npf_fig3", [TABLE], FIGURE, "b\n2\n")
    (made / "workflow/scripts/job.py").write_text("print(2)\n")
    lines = Provenances(RESULTS, made).problems()
    assert len(lines) == 2
    assert all("is of another run: its job had other code" in line for line in lines)


@pytest.mark.parametrize(
    "content",
    ["", "3", "{", '{"digests": 1}', '{"job": "a", "digests": {"inputs": {}, "outputs": 3}}'],
)
def test_a_damaged_provenance_is_named(made, content):
    file = f"{RESULTS}/provenance/npf/npf_fig3.json"
    (made / file).write_text(content)
    assert Provenances(RESULTS, made).problems()[0].startswith(f"{file}: is damaged")
