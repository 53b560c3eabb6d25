"""The whole DAG once at preset smoke, and what must rerun after a change."""

import json
import os
import re
import shutil
import subprocess
import sys
from html import escape

import pytest
from tests.helpers import report_crawler
from tests.helpers.workflow_checkout import Checkout, counted
from tests.helpers.workflow_plans import ROOT, plan

from finitewidth.claims.verdicts import OPEN
from finitewidth.common import number_words
from finitewidth.records import result_files

PLAN = plan("smoke")
DONE = PLAN.artifacts
EXPERIMENTS = [experiment.name for paper in PLAN.papers for experiment in paper.experiments]
TRAININGS = len(PLAN.jobs.trainings)
pytestmark = [pytest.mark.workflow, pytest.mark.usefixtures("fork_server")]


def test_every_artifact_is_made_in_every_format(smoke):
    for artifact in DONE:
        folder = smoke.path / "results/smoke" / artifact.paper / f"{artifact.kind}s"
        suffixes = {file.suffix for file in folder.glob(f"{artifact.artifact}.*")}
        assert suffixes == {f".{suffix}" for suffix in artifact.formats}


def test_no_file_in_results_that_no_rule_makes(smoke):
    orphan = smoke.path / "results/smoke/npf/figures/npf_fig99.pdf"
    orphan.write_text("left behind by a rule that is gone")
    answer = smoke.run("--list-untracked")
    orphan.unlink()
    orphans = re.findall(r"^results/\S+", answer.stdout, re.MULTILINE)
    # the report's folder is one output: Snakemake empties it before it is made
    known = (
        "/logs/",
        "/benchmarks/",
        "results/smoke/report/",
        "results/data/.contents.json",
        "results/smoke/.report.lock",
    )
    orphans = [o for o in orphans if not any(k in o for k in known)]
    assert orphans == ["results/smoke/npf/figures/npf_fig99.pdf"], answer.stdout


def test_a_table_shows_its_footer_and_a_figure_describes_itself_by_it(smoke):
    for artifact in DONE:
        suffix = "svg" if artifact.kind == "figure" else "md"
        folder = smoke.path / "results/smoke" / artifact.paper / f"{artifact.kind}s"
        text = (folder / f"{artifact.artifact}.{suffix}").read_text(encoding="utf-8")
        footer = PLAN.footers.footer(artifact.artifact)
        assert escape(footer, quote=False) in text, artifact.artifact


def test_a_figure_shows_what_stands_in(smoke):
    marks = {a.artifact: PLAN.footers.mark(a.artifact) for a in DONE if a.kind == "figure"}
    assert marks["npf_fig1"] == ""
    assert "stand-in data: digits 8×8 for MNIST" in marks["beyond_fig4"]
    for artifact in DONE:
        if artifact.kind == "table":
            continue
        figure = smoke.path / f"results/smoke/{artifact.paper}/figures/{artifact.artifact}.svg"
        text = figure.read_text(encoding="utf-8")
        # a mark that is too long for the figure is broken over lines
        for words in filter(None, marks[artifact.artifact].split(" · ")):
            assert escape(words, quote=False) in text, artifact.artifact


def test_every_artifact_has_a_caption_with_its_footer(smoke):
    for artifact in DONE:
        caption = smoke.path / PLAN.files.caption(artifact.artifact)
        text = " ".join(caption.read_text(encoding="utf-8").split())
        assert "{{" not in text
        assert text.endswith(f"{PLAN.footers.footer(artifact.artifact)}.")


def test_every_experiment_and_training_leaves_its_provenance(smoke):
    results = smoke.path / "results/smoke"
    copies = results / "report"
    stamps = [s for s in results.rglob("*provenance.json") if copies not in s.parents]
    # and the table of misprints
    assert len(stamps) == len(EXPERIMENTS) + 1 + TRAININGS
    for stamp in stamps:
        value = json.loads(stamp.read_text(encoding="utf-8"))
        assert {"plan", "parameters", "code", "versions", "machine", "git"} <= set(value)
        assert value["versions"]["numpy"]
    training = json.loads(
        (smoke.path / "results/smoke/npf/training/nu/provenance.json").read_text()
    )
    assert [replica["seed"] for replica in training["parameters"]["settings"]["replicas"]] == [0, 1]


def test_logs_hold_plain_lines(smoke):
    log = (smoke.path / "results/smoke/logs/npf/training/kvf.log").read_text(encoding="utf-8")
    assert "dlnpf, 2 replicas: 40 of 40" in log
    assert "\r" not in log


def test_restyling_a_figure_redraws_that_figure_only(restore):
    restore.edit("src/finitewidth/papers/npf/figures/fig3.py", 'xlabel="stage"', 'xlabel="Stage"')
    assert restore.planned() == {
        "npf_fig3": 1,
        "npf0_fig3": 1,
        # sentences of result are written from the table that the renderer defines
        "captions_npf": 1,
        "captions_npf0": 1,
        "datapackages": 1,
        "report": 1,
        "all": 1,
    }


def test_a_change_in_training_code_retrains_what_uses_it_and_nothing_else(restore):
    restore.edit("src/finitewidth/training/gated.py", "argmax(dim=-1)", "argmax(dim=2)")
    jobs = restore.planned()
    assert jobs["train"] == TRAININGS
    assert "dataset" not in jobs


def test_a_change_in_a_kernel_measures_anew_and_retrains_nothing(restore):
    restore.edit("src/finitewidth/kernels/npk.py", "import torch", "import torch\n\nONE = 1\n")
    jobs = restore.planned()
    assert "train" not in jobs
    assert jobs["npf_nu"] == 1
    assert "npf_regimes" not in jobs


def test_the_report_is_built_from_results_and_hangs_together(smoke):
    report = smoke.path / "results/smoke/report"
    assert report_crawler.faults(report) == []
    for artifact in DONE:
        page = report_crawler.soup((report / f"{artifact.paper}.html").resolve())
        anchor = artifact.artifact.replace("_", "-")
        assert page.find(id=anchor)
        assert any(f"/{artifact.artifact}.csv" in link["href"] for link in page.find_all("a"))


def test_the_summary_names_every_artifact_and_claim_and_adds_up_the_time_of_all_jobs(smoke):
    results = smoke.path / "results/smoke"
    text = (results / "report/summary.md").read_text(encoding="utf-8")
    assert [a.artifact for a in DONE if f"\n| `{a.artifact}` |" not in text] == []
    for paper in PLAN.paper_names:
        rows = result_files.read_rows(results / f"claims/{paper}_verdicts.csv", empty=True)
        assert [row["claim"] for row in rows if f"\n| {row['claim']} |" not in text] == []
        # a claim without a decision says why
        for row in rows:
            if row["verdict"] in OPEN:
                line = rf"^\| {row['claim']} \|.*\| {row['verdict']}: \S"
                assert re.search(line, text, re.MULTILINE), row["claim"]
    # Snakemake writes a file for each job; that of the report is not in its own page
    count = len(list((results / "benchmarks").rglob("*.tsv"))) - 1
    assert f"\n| all {count} jobs, each once | | {count} |" in text
    seconds = []
    for file in results.rglob("*.json"):
        path = file.relative_to(results)
        of_report = file.stem == "report" or "report" in path.parts
        if "provenance" in str(path) and not of_report:
            stamp = json.loads(file.read_text(encoding="utf-8"))
            seconds.append(stamp["cpu_seconds"])
    assert len(seconds) == count
    assert f"| {number_words.duration(sum(seconds))} |\n" in text


def test_snakemakes_own_report_builds(smoke, tmp_path):
    answer = smoke.run("--report", str(tmp_path / "snakemake.html"))
    assert answer.returncode == 0, answer.stdout
    text = (tmp_path / "snakemake.html").read_text(encoding="utf-8")
    for artifact in DONE:
        assert artifact.artifact in text


def test_the_report_of_now_needs_no_finished_run(make_checkout):
    fresh = make_checkout("nothing run")
    plan = fresh.path / "results/smoke/.plan/npf_nu-0.json"  # of a run at work
    plan.parent.mkdir(parents=True)
    plan.touch()
    assert fresh.run("report_now").returncode == 0
    assert plan.exists()
    assert report_crawler.faults(fresh.path / "results/smoke/report") == []


def test_pictures_carry_no_dates(smoke):
    pictures = smoke.contents(".pdf", ".svg", ".png")
    assert len(pictures) >= 3 * len([a for a in DONE if a.kind == "figure"])
    for name, content in pictures.items():
        assert not re.search(rb"CreationDate|ModDate|<dc:date>|tIME|date:create", content), name


def test_changing_a_setting_reruns_what_depends_on_it(smoke):
    jobs = smoke.planned("npf={nu: {per_class: 11}}")
    figures = dict.fromkeys(["npf_fig3", "npf0_fig3", "npf_extra_energy", "dgn_fig6"], 1)
    assert {"npf_nu": 1, **figures, "report": 1, "all": 1}.items() <= jobs.items()
    # contexts of claims on nu, of npf and dgn, and captions with a footer or verdict of these
    allowed = {"npf_nu", *figures, "datapackages", "report", "all", "claims"}
    assert all(name in allowed or name.startswith("captions_") for name in jobs), jobs


# --- what a result is decides what runs again; neither dates nor Snakemake's records do ----------

NUMBERS = "config/reported/npf.csv"
WEIGHTS = "results/smoke/npf/training/kvf/weights.npz"


@pytest.fixture
def finished(smoke, tmp_path):
    """A second folder with the finished run, its records and its code."""
    return Checkout(tmp_path / "finished", of=smoke.path)


def test_reworded_docstrings_touched_files_cores_and_device_rerun_nothing(finished):
    """The report is another one, so that it alone is built."""
    renderer = "papers/npf/figures/fig3.py"
    for file in ("training/loop.py", "kernels/npk.py", renderer, "data/bundled.py"):
        path = finished.path / "src/finitewidth" / file
        text = path.read_text(encoding="utf-8")
        path.write_text('"""Other words.' + text[3:] + "\n# a comment\n", encoding="utf-8")
    finished.edit("src/finitewidth/report/formatting.py", 'f"{count} B"', 'f"{count} bytes"')
    finished.edit("src/finitewidth/report/templates/legend.html", "<tbody>", "<p>More.</p><tbody>")
    # in the order of a walk from the top, inputs are newer than what was made of them
    for folder, _, files in os.walk(finished.path):
        for file in sorted(files, reverse=True):
            os.utime(os.path.join(folder, file), follow_symlinks=False)
    targets = dict.fromkeys(name for a in DONE for name in (a.artifact, a.paper))
    jobs = finished.planned("all", *targets, "checkpoint_seconds=5", "device=auto", cores=1)
    assert jobs == {"report": 1, "all": 1}


@pytest.fixture
def clone(smoke, make_checkout):
    """Another clone, into which the results were copied: without dates and Snakemake's records."""
    clone = make_checkout("clone")
    shutil.copytree(smoke.path / "results", clone.path / "results", copy_function=shutil.copyfile)
    return clone


DRAWS = "thesis={risk: {draws: 15}}"


def test_results_copied_into_another_clone_are_as_good_there(clone):
    assert clone.planned() == {}
    # and no better: other settings are seen there, also after a look by --touch
    for _ in range(2):
        jobs = clone.planned("thesis_fig2_4", DRAWS)
        assert jobs == {"thesis_risk": 1, "thesis_fig2_4": 1}
        assert clone.run("--touch", "thesis_fig2_4", DRAWS).returncode == 0
    assert clone.planned() == {}
    path = clone.path / "src/finitewidth/papers/thesis/experiments/risk.py"
    path.write_text(path.read_text(encoding="utf-8") + "\nANOTHER = 1\n", encoding="utf-8")
    said = clone.run("--dry-run", "thesis_fig2_4").stdout
    assert counted(said) == {"thesis_risk": 1, "thesis_fig2_4": 1}


def test_results_of_other_settings_that_were_copied_over_ours_are_made_again(finished, tmp_path):
    """Snakemake itself knows the content of the file with the plan, and would pass over it."""
    ours = tmp_path / "ours"
    shutil.copytree(finished.path / "results", ours)
    assert finished.run("thesis_fig2_4", DRAWS).returncode == 0
    assert finished.planned("thesis_fig2_4", DRAWS) == {}
    shutil.rmtree(finished.path / "results")
    shutil.copytree(ours, finished.path / "results")
    assert finished.planned("thesis_fig2_4") == {}
    assert finished.planned("thesis_fig2_4", DRAWS) == {"thesis_risk": 1, "thesis_fig2_4": 1}


@pytest.mark.parametrize("deleted", [False, True])
def test_a_job_takes_what_rests_on_it_along(finished, deleted):
    """Also a figure that is not there, and that Snakemake would pass over with `ancient` inputs."""
    both = {"thesis_risk": 1, "thesis_fig2_4": 1}
    if deleted:
        for file in (finished.path / "results/smoke").glob("**/thesis_fig2_4.*"):
            file.unlink()
        assert finished.planned("thesis_fig2_4") == {"thesis_fig2_4": 1}
    assert finished.planned("thesis_fig2_4", "--forcerun", "thesis_risk") == both
    assert finished.planned("thesis_fig2_4", DRAWS) == both
    finished.edit("src/finitewidth/papers/thesis/experiments/risk.py", "import", "ONE = 1\nimport")
    assert finished.planned("thesis_fig2_4") == both


@pytest.mark.parametrize("date", [0, 4_000_000_000], ids=["1970", "future"])
def test_dates_do_not_hide_other_settings(finished, date):
    """Snakemake takes 1970-01-01 for no date, also that of a benchmark."""
    for file in (finished.path / "results").rglob("*"):
        if file.is_file():
            os.utime(file, (date, date))
    assert finished.planned() == {}
    assert finished.planned("thesis_fig2_4", DRAWS) == {"thesis_risk": 1, "thesis_fig2_4": 1}


def test_a_dry_run_writes_no_result(finished):
    before = {}
    for file in (finished.path / "results").rglob("*"):
        if ".plan" not in file.parts and file.is_file():
            before[file] = file.stat().st_mtime_ns
    assert finished.planned("thesis_fig2_4", DRAWS)
    assert before == {file: file.stat().st_mtime_ns for file in before}


def test_what_would_be_deleted_is_shown(smoke):
    assert "Would delete" in smoke.run("--delete-all-output", "--dry-run").stdout


def test_a_module_of_another_workflow(finished, tmp_path):
    page = (ROOT / "docs/howto/module.md").read_text(encoding="utf-8")
    snakefile = re.search(r"```python\n(.*?)```", page, re.S)[1]
    (tmp_path / "finitewidth").symlink_to(finished.path)

    def run(text):
        (tmp_path / "Snakefile").write_text(text)
        words = [sys.executable, "-m", "snakemake", "--cores", "1", "paper"]
        return subprocess.run(
            words,
            cwd=tmp_path,
            env=finished.environment(),
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    done = run(snakefile)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "paper/risk.pdf").is_file()
    results = tmp_path / "results/smoke/thesis/experiments"
    assert set(result_files.read_table(results / "risk_drawn.csv")["draws"]) == {60}
    prefixed = 'module finitewidth:\n    prefix: "sub"'
    refused = run(snakefile.replace("module finitewidth:", prefixed))
    assert refused.returncode != 0
    assert "a module of finitewidth cannot have a prefix" in refused.stdout


def test_changed_content_is_noticed_whatever_its_time(finished):
    before = finished.path / NUMBERS
    old = before.stat().st_mtime - 10**8
    finished.edit(NUMBERS, "97.85", "97.84")
    os.utime(before, (old, old))
    # as if a run had been killed between a training that gave other weights and what reads it
    provenance = finished.path / WEIGHTS.replace("weights.npz", "provenance.json")
    stamp = json.loads(provenance.read_text(encoding="utf-8"))
    stamp["digests"]["outputs"][WEIGHTS] = "another"
    provenance.write_text(json.dumps(stamp), encoding="utf-8")
    jobs = finished.planned()
    assert jobs["npf_regimes"] == jobs["npf_kvf"] == 1
    assert "train" not in jobs


def test_a_deleted_figure_is_made_again_and_the_terminal_shows_a_line_per_job(finished):
    figure = finished.path / "results/smoke/npf/figures/npf_fig6.pdf"
    before = figure.read_bytes()
    figure.unlink()
    shown = {k: v for k, v in finished.environment().items() if k != "FINITEWIDTH_TERMINAL"}
    done = subprocess.run(
        finished.command("npf_fig6"),
        cwd=finished.path,
        env=shown,
        text=True,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    lines = [line for line in done.stdout.splitlines() if "Using workflow specific" not in line]
    assert re.fullmatch(r"1 job, about .* on 2 cores; details in .snakemake/log", lines[0])
    assert lines[1].startswith("[1/1] npf_fig6 ")
    assert re.fullmatch(r"1 job done in .*\.", lines[2])
    assert lines[3:] == ["results/smoke/npf/figures/npf_fig6.{pdf,png,svg,csv}"]
    assert not (finished.path / "results/smoke/.running").exists()
    assert figure.read_bytes() == before
