"""Plans of jobs, what the jobs leave, and what a later start and `verify` say of it."""

import json
import os
import shutil
import time
from functools import partial
from types import SimpleNamespace

import pytest

from finitewidth.pipeline.plans import verified
from finitewidth.pipeline.plans.job_plan import JobPlan
from finitewidth.pipeline.plans.job_plans import JobPlans
from finitewidth.pipeline.plans.plan_files import PlanFiles
from finitewidth.pipeline.runs.recorded import recorded
from finitewidth.records import result_files
from finitewidth.records.code import code_of
from finitewidth.records.provenance import digest_of
from finitewidth.records.verification import Provenances

RESULTS = "results/quick"
TABLE = f"{RESULTS}/npf/experiments/nu.csv"
FIGURE = f"{RESULTS}/npf/figures/npf_fig3.csv"
NUMBERS = "config/reported/npf.csv"
SCRIPT = "workflow/scripts/job.py"
JOBS = ("npf_nu", "npf_fig3")


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A folder with a script and printed numbers, in which jobs run."""
    for file, text in {SCRIPT: "print(1)\n", NUMBERS: "a\n1\n"}.items():
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def job_plan(name, runs=2, style="plain"):
    """An experiment, and a figure that shows its table and printed numbers."""
    common = {
        "name": name,
        "provenance": f"{RESULTS}/provenance/npf/{name}.json",
        "code": code_of(["finitewidth.common.errors"], [SCRIPT], "."),
    }
    if name == "npf_nu":
        return JobPlan(outputs=[TABLE], parameters={"settings": {"runs": runs}}, **common)
    return JobPlan(
        outputs=[FIGURE],
        inputs={"table": TABLE, "numbers": NUMBERS},
        makers={TABLE: "npf_nu"},
        parameters={"settings": {"style": style}},
        **common,
    )


def plans(**settings):
    """Plans of today, which nothing has been compared with."""
    return JobPlans(partial(job_plan, **settings), ".")


def plan_files(**settings):
    """Their files."""
    return PlanFiles(plans(**settings))


class Files(list):
    """Files of a rule, some of them with names."""

    def __init__(self, **named):
        super().__init__(named.values())
        self.named = named

    def __getitem__(self, key):
        return self.named[key] if isinstance(key, str) else super().__getitem__(key)

    def items(self):
        return self.named.items()


def run(name, content, during=lambda: None, **settings):
    """Do what Snakemake and the script of a job do."""
    job_plans = plans(**settings)
    plan = job_plans[name]
    snakemake = SimpleNamespace(
        scriptdir=os.path.abspath("workflow/scripts"),
        input=Files(**plan.inputs, plan=PlanFiles(job_plans).write(name)),
        log=[f"{RESULTS}/logs/{name}.log"],
        output=Files(csv=plan.outputs[0], provenance=plan.provenance),
    )
    with recorded(snakemake):
        os.makedirs(os.path.dirname(plan.outputs[0]), exist_ok=True)
        with open(plan.outputs[0], "w") as stream:
            stream.write(content)
        during()


@pytest.fixture
def made(project):
    """A table and a figure of it."""
    run("npf_nu", "a\n1\n")
    run("npf_fig3", "b\n2\n")
    return project


def reasons(**settings):
    """Why each of the two jobs would run again."""
    job_plans = plans(**settings)
    return {name: job_plans.reasons(name) for name in JOBS}


GOOD = {"npf_nu": (), "npf_fig3": ()}
AFTER = ("what it rests on: npf_nu", "runs again: npf_nu")


def problems(**settings):
    """The lines of `verify`."""
    return [problem.text for problem in verified.problems(RESULTS, JOBS, plans(**settings))]


def test_a_provenance_holds_digests_code_settings_versions_time_and_memory(made):
    stamp = json.loads((made / RESULTS / "provenance/npf/npf_fig3.json").read_text())
    assert stamp["job"] == "npf_fig3"
    assert stamp["digests"] == {
        "inputs": {TABLE: digest_of(TABLE), NUMBERS: digest_of(NUMBERS)},
        "outputs": {FIGURE: digest_of(FIGURE)},
    }
    assert list(stamp["code"]["files"]) == [SCRIPT]
    assert stamp["parameters"] == {"settings": {"style": "plain"}}
    assert {"versions", "machine", "git", "wall_seconds", "cpu_seconds", "memory_mb"} <= set(stamp)
    assert reasons() == GOOD
    assert problems() == []


def test_results_that_are_not_made_are_no_reason(project):
    assert reasons() == GOOD
    assert not plans().is_done("npf_nu")


def test_a_setting_is_seen_and_said(made):
    assert reasons(runs=3) == {"npf_nu": ("settings: runs 2 → 3",), "npf_fig3": AFTER}
    assert reasons(style="bold") == {"npf_nu": (), "npf_fig3": ("settings: style plain → bold",)}
    assert reasons() == GOOD
    assert problems(style="bold") == [
        "npf_fig3: settings: style plain → bold; the next run makes it again"
    ]


def test_code_is_seen_and_said_and_its_wording_does_not_count(made):
    (made / SCRIPT).write_text('"""Print."""\nprint(1)  # one\n')
    assert reasons() == GOOD
    (made / SCRIPT).write_text("print(2)\n")
    code = f"code: {SCRIPT}"
    assert reasons() == {"npf_nu": (code,), "npf_fig3": (code, *AFTER)}


def test_printed_numbers_are_seen(made):
    (made / NUMBERS).write_text("a\n2\n")
    assert reasons() == {"npf_nu": (), "npf_fig3": (f"files: {NUMBERS}",)}


def test_a_table_made_with_other_numbers_meanwhile_is_seen(made):
    run("npf_nu", "a\n5\n")  # on a machine that gives other numbers
    assert reasons() == {"npf_nu": (), "npf_fig3": (f"it was made from another {TABLE}",)}
    run("npf_nu", "a\n1\n")
    assert reasons() == GOOD


def test_a_table_that_is_deleted_with_its_provenance_leaves_the_figure_good(made):
    os.remove(TABLE)
    os.remove(f"{RESULTS}/provenance/npf/npf_nu.json")
    assert reasons() == GOOD
    assert reasons(runs=3)["npf_fig3"] == ("what it rests on: npf_nu",)


@pytest.mark.parametrize(
    "content", ["", "3", "{", '{"digests": 1}', '{"job": "a", "digests": {"inputs": {}}}', None]
)
def test_a_provenance_that_is_lost_or_damaged_is_a_reason(made, content):
    file = made / RESULTS / "provenance/npf/npf_nu.json"
    file.unlink()
    if content is not None:
        file.write_text(content)
    problem = "is missing" if content is None else "is damaged, or of an earlier version"
    reason = f"{RESULTS}/provenance/npf/npf_nu.json {problem}"
    assert reasons() == {"npf_nu": (reason,), "npf_fig3": ("runs again: npf_nu",)}
    assert f"npf_nu: {reason}; the next run makes it again" in problems()


@pytest.mark.parametrize("change", [{"digests": {"inputs": {}}}, {"job": "\ud800"}])
def test_a_provenance_with_a_wrong_field_is_damaged(made, change):
    file = made / RESULTS / "provenance/npf/npf_nu.json"
    stamp = json.loads(file.read_text())
    file.write_text(json.dumps(stamp | change))
    assert "is damaged" in reasons()["npf_nu"][0]
    assert "is damaged" in problems()[0]


def test_other_packages_are_counted_and_are_a_reason_if_the_user_wants_so(made):
    file = made / RESULTS / "provenance/npf/npf_nu.json"
    stamp = json.loads(file.read_text())
    now = stamp["versions"]["torch"]
    stamp["versions"]["torch"] = "1.0"
    result_files.write_json(file, stamp)
    job_plans = plans()
    assert job_plans.reasons("npf_nu") == ()
    assert job_plans.other_packages == {f"torch 1.0 → {now}": 1}
    rerunning = JobPlans(job_plan, ".", rerun_packages=True)
    assert rerunning.reasons("npf_nu") == (f"packages: torch 1.0 → {now}",)


def test_what_is_forced_is_made_again_with_what_rests_on_it(made):
    job_plans = plans()
    job_plans.forced = {"npf_nu"}
    assert job_plans.reasons("npf_fig3") == ("runs again: npf_nu",)


def test_dates_of_plans_are_older_than_results_or_newer(made):
    file = plan_files().write("npf_fig3")
    assert os.path.getmtime(file) == 0
    before = os.path.getmtime(FIGURE)
    other = plan_files(style="bold").write("npf_fig3")
    assert os.path.getmtime(other) >= before
    # Snakemake passes over a newer file whose content it knows
    digest = digest_of(other)
    assert digest != digest_of(plan_files(style="bold").write("npf_fig3"))
    digest = digest_of(file)
    assert digest == digest_of(plan_files().write("npf_fig3"))


def test_the_plan_of_a_result_dated_in_the_future_is_newer_until_its_job_has_run(made):
    future = time.time() + 86400
    os.utime(FIGURE, (future, future))
    assert os.path.getmtime(plan_files(style="bold").write("npf_fig3")) > future
    run("npf_fig3", "b\n3\n", style="bold")
    # Snakemake gives results the date of now, and refuses those that are older than an input
    assert os.path.getmtime(plan_files(style="bold").file("npf_fig3")) <= time.time()


def test_results_without_a_date_get_one_where_they_are_made_again(made):
    """Snakemake takes 1970-01-01, as of some archives, for no date."""
    for file in (FIGURE, TABLE):
        os.utime(file, (0, 0))
    plan_files(style="bold").write("npf_fig3")
    assert (os.path.getmtime(FIGURE), os.path.getmtime(TABLE)) == (1, 0)


@pytest.mark.parametrize("file", [SCRIPT, TABLE, NUMBERS])
def test_a_job_fails_if_its_code_or_its_input_changes_meanwhile(made, file):
    os.remove(made / RESULTS / "provenance/npf/npf_fig3.json")

    def change():
        with open(file, "a") as stream:
            stream.write("print(3)\n")

    with pytest.raises(SystemExit, match="changed"):
        run("npf_fig3", "b\n2\n", during=change)
    assert not (made / RESULTS / "provenance/npf/npf_fig3.json").exists()


@pytest.mark.parametrize("lost", [True, False])
def test_a_job_reads_no_table_that_was_altered_or_has_lost_its_provenance(made, lost):
    if lost:
        os.remove(f"{RESULTS}/provenance/npf/npf_nu.json")
    else:
        (made / TABLE).write_text("a\n")
    with pytest.raises(SystemExit, match=f"{TABLE}.* and run again"):
        run("npf_fig3", "b\n3\n")


def test_a_job_reads_no_table_of_other_settings(made):
    run("npf_nu", "a\n3\n", runs=3)
    with pytest.raises(SystemExit, match="was made with other settings or code"):
        run("npf_fig3", "b\n3\n")


def test_an_input_that_is_dated_in_the_future_gets_the_date_of_now(made):
    os.utime(TABLE, (4e9, 4e9))
    run("npf_fig3", "b\n2\n")
    assert os.path.getmtime(TABLE) < 4e9
    assert reasons() == GOOD


def test_verify_tells_lost_altered_made_otherwise_foreign_and_at_work_apart(made):
    (made / FIGURE).write_text("b\n3\n")
    shutil.copy(made / TABLE, made / RESULTS / "npf/experiments/other.csv")
    os.remove(TABLE)
    other = f"{RESULTS}/npf/experiments/other.csv"
    assert problems() == [
        f"{TABLE}: is lost; `finitewidth run {TABLE}` makes it again",
        f"{FIGURE}: was altered after its job had written it; delete it and run again",
        f"{other}: no job of this run makes it; delete it if you do not need it",
    ]
    working = verified.problems(RESULTS, JOBS, plans(), working=JOBS)
    assert [problem.kind for problem in working] == [verified.WORKING] * 2 + [verified.FOREIGN]


@pytest.mark.parametrize("file", ["/dev/zero", "/", "..", "results/../../x", "results/a\0b"])
def test_files_that_a_provenance_names_elsewhere_are_not_read(made, file):
    stamp = json.loads((made / RESULTS / "provenance/npf/npf_nu.json").read_text())
    stamp["digests"]["outputs"] = {file: "0"}
    result_files.write_json(made / RESULTS / "provenance/npf/npf_nu.json", stamp)
    assert file not in Provenances(RESULTS).makers
    assert reasons()["npf_nu"] == ()


def test_a_pipe_in_the_place_of_a_result_is_named(made):
    os.remove(FIGURE)
    os.mkfifo(FIGURE)
    problem = "cannot be read (it is no regular file)"
    assert problems() == [f"{FIGURE}: {problem}; delete it and run again"]
