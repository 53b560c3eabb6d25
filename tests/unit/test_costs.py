"""The plan of costs: the formula of trainings, the table of all other jobs, and its refreshing."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tests.training_cases import make_images

from finitewidth.common.declarations import read_papers
from finitewidth.common.errors import ConfigError, ResultError
from finitewidth.common.settings import merged, preset_only
from finitewidth.data.bundled import digits, digits_on_patches
from finitewidth.data.catalogue import SOURCES
from finitewidth.networks.architecture import Architecture, layers_of
from finitewidth.pipeline.costs.estimate import (
    NOTHING,
    Known,
    Rule,
    duration,
    estimate,
    jobs_of,
    size,
)
from finitewidth.pipeline.costs.forecast import cost, forecast, pictures
from finitewidth.pipeline.costs.refresh import refresh
from finitewidth.pipeline.costs.table import (
    KINDS,
    TABLE,
    Cost,
    Costs,
    read_costs,
    read_table,
    write_table,
)
from finitewidth.pipeline.costs.trainings import Pictures, checkpoint, positions, training
from finitewidth.pipeline.costs.work import (
    REFERENCE,
    REFERENCE_YARDSTICK,
    Machine,
    Work,
    gpu,
    here,
)
from finitewidth.pipeline.plan import Plan
from finitewidth.training import loop
from finitewidth.training.run import Replica, TrainingRun

ROOT = Path(__file__).parents[2]
PRESETS = ("smoke", "quick", "laptop", "paper")
EXPERIMENTS = {e.name for paper in read_papers(ROOT / "workflow/papers") for e in paper.experiments}
MACHINE = Machine(name="m", flops=1, convolutions=1, elements=1, calls=1, start=0)
DIGITS = Pictures((8, 8, 1), 10, 1000, 100)


def plan(preset="quick", **over):
    return Plan(merged(preset_only(preset, ROOT / "config"), over), ROOT)


def row(job, seconds, source="estimated", preset="quick"):
    return Cost(preset, job, seconds, 100, 5, source)


def run(regime="relu", beta=None, **changes):
    replica = Replica(name="a", regime=regime, seed=0, step_size=0.1, beta=beta)
    fields = {
        "row": "r", "replicas": (replica,), "architecture": Architecture(dense=(64, 64)),
        "epochs": 3, "batch_size": 10,
    }  # fmt: skip
    return TrainingRun(**fields | changes)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_table_has_every_job_but_trainings_and_no_other(preset):
    assert set(read_costs(ROOT / TABLE, preset).rows) == {*EXPERIMENTS, "errata", *KINDS}


def test_the_table_is_as_it_would_be_written(tmp_path):
    write_table(tmp_path / "costs.tsv", read_table(ROOT / TABLE))
    assert (tmp_path / "costs.tsv").read_text() == (ROOT / TABLE).read_text()


def test_a_new_job_has_an_estimate_before_its_first_run():
    new = read_costs(ROOT / TABLE, "quick")["npf_new"]
    assert (new.job, new.preset, new.estimated) == ("npf_new", "quick", True)
    assert new.seconds > 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seconds", "hours", "line 1: columns"),
        ("quick", "slow", "line 2: preset 'slow' is not one of"),
        ("12.5", "some", "line 2: could not convert"),
        ("measured", "guessed", "line 2: source 'guessed"),
        ("npf_b", "npf_a", "line 3: npf_a has a row at preset quick already"),
        ("\t100", "", "line 2: "),
    ],
)
def test_a_damaged_table_is_refused_with_the_place(tmp_path, old, new, message):
    file = tmp_path / "costs.tsv"
    write_table(file, [row("npf_a", 12.5, "measured 2025-01-01 0.1.0"), row("npf_b", 1)])
    assert [each.job for each in read_table(file)] == ["npf_a", "npf_b"]
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(ConfigError, match=message):
        read_table(file)


def test_a_missing_table_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"costs\.tsv is missing"):
        read_table(tmp_path / "costs.tsv")


def test_snakemake_s_start_loads_no_large_library():
    code = "import sys; import finitewidth.pipeline.costs.requests; print(*sys.modules)"
    words = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "pandas", "scipy"} & set(words.stdout.split())


def left(
    results, job, cpu, memory=100, made=(), file=None, day=datetime(2025, 3, 1, 12, tzinfo=UTC)
):
    """The provenance that a job leaves."""
    file = results / (file or f"provenance/{job.replace(' ', '/')}.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    outputs = dict.fromkeys(f"results/{each}" for each in made)
    record = {"job": job, "wall_seconds": 100, "cpu_seconds": cpu, "memory_mb": memory,
              "digests": {"outputs": outputs}}  # fmt: skip
    file.write_text(json.dumps({key: it for key, it in record.items() if it is not None}))
    os.utime(file, (day.timestamp(), day.timestamp()))


def file_of(path, size):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)


@pytest.fixture
def finished(tmp_path):
    """A finished run, and a table with one row that it replaces and two that it does not."""
    results = tmp_path / "results/quick"
    for name, count in {
        "quick/npf/experiments/nu_runs.csv": 1000, "quick/npf/experiments/nu_deep_runs.csv": 7000,
        "quick/npf/figures/npf_fig3.pdf": 4000, "quick/npf/figures/npf_fig3.csv": 2000,
        "quick/npf/figures/npf_extra_nu.pdf": 10_000, "quick/dgn/tables/dgn_table1.md": 50,
        "quick/claims/npf_verdicts.csv": 100, "quick/report/index.html": 300,
        "quick/report/files/a.csv": 400, "data/digits.npz": 800,
    }.items():  # fmt: skip
        file_of(tmp_path / "results" / name, count)
    nu = ["quick/npf/experiments/nu_runs.csv"]
    left(results, "npf_nu", 8, 200, nu, "npf/experiments/nu_provenance.json")
    left(results, "npf_nu_deep", 10, None, ["quick/npf/experiments/nu_deep_runs.csv"])
    left(results, "npf_old", None)  # of a version that did not record it
    killed = results / "npf/experiments/killed_provenance.json"
    killed.write_text('{"cpu_seconds": 70}')  # the job had not added its name yet
    left(results, "npf/nu", 50, 900, ["w.npz"], "npf/training/nu/provenance.json")
    figures = ["quick/npf/figures/npf_fig3.pdf", "quick/npf/figures/npf_fig3.csv"]
    left(results, "npf_fig3", 3, made=figures)
    left(results, "npf_extra_nu", 5, 300, ["quick/npf/figures/npf_extra_nu.pdf"])
    left(results, "dgn_table1", 1, made=["quick/dgn/tables/dgn_table1.md"])
    left(results, "claims npf", 2, made=["quick/claims/npf_verdicts.csv"])
    left(results, "claims dgn", 4, made=["quick/claims/gone.csv"])
    left(results, "captions_dgn", 7)
    left(results, "report", 9, made=["quick/report"])
    file = "../data/provenance/digits.json"
    left(results, "dataset digits", 3, made=["data/digits.npz"], file=file)
    table = tmp_path / "costs.tsv"
    write_table(table, [row("npf_nu", 2), row("npf_kvf", 3), row("npf_nu", 99, preset="paper")])
    return results, table


def test_refresh_takes_times_memory_and_sizes_from_the_provenance(finished):
    results, table = finished
    said = refresh("quick", results, table, seconds_here=2 * REFERENCE_YARDSTICK)
    rows = read_costs(table, "quick").rows
    seconds = {job: each.seconds for job, each in rows.items()}
    assert seconds == {
        "npf_nu": 4, "npf_nu_deep": 5, "figure": 2, "table": 0.5, "claims": 1.5, "report": 4.5,
        "captions": 3.5, "dataset": 1.5, "npf_kvf": 3,
    }  # fmt: skip
    sizes = {job: each.disk_kb for job, each in rows.items()}
    assert sizes == {
        "npf_nu": 1, "npf_nu_deep": 7, "figure": 8, "table": 0.05, "claims": 0.05, "captions": 0,
        "report": 0.7, "dataset": 0.8, "npf_kvf": 5,
    }  # fmt: skip
    assert (rows["figure"].memory_mb, rows["npf_nu"].memory_mb) == (300, 200)
    assert rows["npf_nu_deep"].memory_mb == 0  # was not known before, either
    assert rows["npf_nu"].source.startswith("measured 2025-03-01 ")
    assert rows["npf_kvf"].estimated
    assert read_costs(table, "paper").rows["npf_nu"].seconds == 99
    assert re.search(r"^npf_nu +~2 +4 +0\.50$", said, re.M)
    assert re.search(r"^report +none +4\.5 *$", said, re.M)


def test_refresh_of_new_jobs_keeps_all_other_rows_and_gives_them_to_other_presets(finished):
    results, table = finished
    before = {(row.preset, row.job): row for row in read_table(table)}
    refresh("quick", results, table, 0.03, only_new=True)
    after = {(row.preset, row.job): row for row in read_table(table)}
    assert before.items() <= after.items()
    assert after["quick", "npf_nu_deep"].source.startswith("measured")
    for preset in ("smoke", "laptop", "paper"):
        new = after[preset, "npf_nu_deep"]
        assert new.estimated
        assert new.seconds == after["quick", "npf_nu_deep"].seconds


def test_a_second_refresh_changes_nothing(finished):
    results, table = finished
    refresh("quick", results, table, 0.03)
    once = table.read_text()
    assert "~" not in refresh("quick", results, table, 0.03)
    assert table.read_text() == once


def test_refresh_without_a_run_says_what_to_do(finished, tmp_path):
    with pytest.raises(ResultError, match="snakemake --cores 2 --config preset=smoke"):
        refresh("smoke", tmp_path / "nothing/smoke", finished[1], 0.03)


def test_products_of_a_training_are_counted_exactly():
    # forward once and backward twice on every training image, forward on every test image
    weights = 64 * 64 + 64 * 64 + 64 * 10
    assert training(run(), DIGITS).flops == 2 * weights * 3 * (3 * 1000 + 100)


def test_a_frozen_feature_network_costs_a_forward_pass():
    frozen, free = training(run("frnpf_ii"), DIGITS), training(run(), DIGITS)
    assert frozen.flops / free.flops == pytest.approx((4 * 1000 + 2 * 100) / (3 * 1000 + 100))
    both = training(run("dlnpf", beta=4.0), DIGITS)
    assert both.flops / free.flops == pytest.approx((6 * 1000 + 2 * 100) / (3 * 1000 + 100))


def bytes_of(state):
    """Of all tensors in nested plain values."""
    if isinstance(state, torch.Tensor):
        return state.nbytes
    values = state.values() if isinstance(state, dict) else state
    return sum(map(bytes_of, values)) if isinstance(state, dict | list | tuple) else 0


@pytest.mark.parametrize("optimiser", ["sgd", "rmsprop", "adam"])
@pytest.mark.parametrize(
    ("regime", "beta"), [("relu", None), ("frnpf_ii", None), ("dlnpf", 4.0)]
)  # fmt: skip
def test_a_checkpoint_is_as_large_as_reckoned_and_two_count(optimiser, regime, beta):
    sizes = []
    store = SimpleNamespace(
        latest=lambda: (None, []), save=lambda _, state: sizes.append(bytes_of(state))
    )
    mine = run(regime, beta, optimiser=optimiser, snapshots=(0, 2), best_so_far=(1,),
               keep=("best_validation", "last"))  # fmt: skip
    loop.train(mine, make_images(shape=(64,)), checkpoints=store, checkpoint_seconds=-1)
    small = Pictures((8, 8, 1), 3, 40, 20)
    assert checkpoint(mine, small) == pytest.approx(
        sizes[-1],
        rel=0.02,  # a feature network has no last layer
    )
    lean = replace(mine, snapshots=(), best_so_far=(), keep=())
    assert training(lean, small).disk - 2 * checkpoint(lean, small) == 150 * lean.epochs


def test_cost_grows_with_epochs_and_replicas():
    once = training(run(), DIGITS)
    twice = training(run(epochs=6), DIGITS)
    assert (twice.flops, twice.calls) == (2 * once.flops, 2 * once.calls)
    replicas = tuple(replace(run().replicas[0], name=str(i)) for i in range(5))
    stacked = training(run(replicas=replicas), DIGITS)
    assert stacked.flops == 5 * once.flops
    assert stacked.calls == once.calls


def test_positions_of_a_convolution():
    same = layers_of(Architecture(channels=(4, 4), dense=(8,)), (16, 16, 3), 10)
    assert positions(same, (16, 16, 3)) == [256, 256, 1, 1]
    valid = layers_of(Architecture(channels=(4, 4), padding="valid"), (16, 16, 3), 10)
    assert positions(valid, (16, 16, 3)) == [196, 144, 1]


@pytest.mark.parametrize(("source", "make"), [("digits", digits), ("digits_on_patches",
                                                                   digits_on_patches)])  # fmt: skip
def test_the_catalogue_knows_how_many_images_there_are(source, make):
    data = make()
    assert SOURCES[source].images == (len(data.train_images), len(data.test_images))


def test_work_adds_up_and_memory_does_not():
    total = Work(flops=1, memory=5) + Work(flops=2, memory=3, starts=1, seconds=4)
    assert total == Work(flops=3, memory=5, starts=1, seconds=4)


def test_machines_are_positive_and_a_gpu_gains_on_products_only():
    mine, device = here(2), gpu(150)
    assert mine.workers == 2
    assert min(mine.flops, mine.elements, mine.calls, mine.start, mine.pace) > 0
    assert mine.flops * mine.pace == pytest.approx(REFERENCE.flops)
    products, calls = Work(flops=1e15), Work(calls=1e8)
    assert device.seconds(products) < REFERENCE.seconds(products) / 100
    assert device.seconds(calls) > REFERENCE.seconds(calls) / 3


GRAPH = {
    "fig": Rule(("results/q/npf/experiments/a.csv",), ("fig.pdf",)),
    "other": Rule(("results/q/npf/experiments/b.csv",), ("other.pdf",)),
    "a": Rule(("results/q/npf/training/two/history.csv", "config/reported/npf.csv"),
              ("results/q/npf/experiments/a.csv",)),
    "b": Rule((), ("results/q/npf/experiments/b.csv",)),
}  # fmt: skip


def test_jobs_behind_an_artifact():
    earlier = {"npf/two": "npf/one", "npf/one": None}
    assert jobs_of("fig", GRAPH, earlier) == {"fig", "a", "npf/two", "npf/one"}
    assert jobs_of("other", GRAPH, earlier) == {"other", "b"}


def test_several_cores_share_jobs_but_not_the_longest_one():
    costs = {"long": Known(Work(flops=3600)), "short": Known(Work(flops=360))}
    two = replace(MACHINE, workers=2)
    assert estimate("x", costs, costs, MACHINE, MACHINE).hours == pytest.approx(1.1)
    assert estimate("x", costs, costs, two, MACHINE).hours == pytest.approx(1.0)
    assert estimate("x", [], costs, two, MACHINE).work == NOTHING


def test_a_gpu_takes_trainings_only():
    costs = {"training": Known(Work(flops=3600, starts=1)), "other": Known(Work(seconds=7200))}
    fast = replace(MACHINE, flops=10, start=0)
    line = estimate("x", costs, costs, replace(MACHINE, pace=0.5), fast)
    assert (line.hours, line.gpu_hours) == (pytest.approx(2.0), pytest.approx(1.1))


def test_lines_mark_estimated_jobs_and_modified_settings():
    costs = {
        "a": Known(Work(seconds=1)), "b": Known(Work(seconds=1), estimated=True),
        "c": Known(Work(seconds=20), modified=True),
    }  # fmt: skip
    lines = {
        job: estimate(job, [job], costs, MACHINE, MACHINE).line() for job in costs
    }  # fmt: skip
    assert "~" not in lines["a"] + lines["c"]
    assert lines["b"].count("~1 s") == 2
    assert [job for job, line in lines.items() if line.endswith(" *")] == ["c"]
    assert estimate("x", ["a", "b"], costs, MACHINE, MACHINE).marks == "~"
    assert estimate("x", ["b", "c"], costs, MACHINE, MACHINE).marks == "*"


def some_costs(**seconds):
    rows = {job: row(job, value) for job, value in (dict.fromkeys(KINDS, 1) | seconds).items()}
    return Costs("quick", rows)


def test_the_forecast_names_every_artifact_and_what_no_artifact_needs():
    graph = {name: {"inputs": list(rule.inputs), "outputs": list(rule.outputs)}
             for name, rule in GRAPH.items()}  # fmt: skip
    entry = SimpleNamespace(artifact="fig", paper="npf", kind="figure")
    costs = some_costs(a=3600, b=10 * 3600, **{"npf/two": 1})
    said = {
        modified: forecast({"preset": "quick"}, [entry], graph, {}, 100, MACHINE, costs, modified)
        for modified in ((), ("a",))
    }
    lines = {line.split("  ")[0]: line for line in said[()].splitlines()}
    assert "GPU of 100 TFLOP/s" in lines["preset quick; here: m; GPU of 100 TFLOP/s"]
    assert re.search(r"^fig +3 +~60 min ", lines["fig"])
    assert re.search(r" 2 +~10 h ", lines["claims, errata, report"])
    assert re.search(r" 5 +~11 h ", lines["everything"])
    marked = [line.split("  ")[0] for line in said["a",].splitlines() if line.endswith(" *")]
    assert marked == ["fig", "all of npf", "everything"]


def test_a_training_is_forecast_by_the_formula_and_an_experiment_by_its_row():
    mine = plan()
    costs = some_costs(npf_nu=5)
    trained = cost("npf/nu", mine.config, mine.trainings(), costs)
    assert trained.work.flops > 0
    assert not trained.estimated
    shown = cost("npf_fig3", mine.config, {}, costs, {"npf_fig3": "figure"})
    assert shown == cost("results/data/digits.npz", mine.config, {}, costs)
    assert cost("npf_nu", mine.config, {}, costs) == Known(
        Work(seconds=5, memory=1e8, disk=5e3), estimated=True
    )
    assert cost("npf_new", mine.config, {}, costs).estimated


def test_pictures_of_a_folder_are_reckoned_as_the_original():
    mine = plan(data={"cifar10": "mine", "imagefolder": {"mine": "folder"}})
    assert pictures("cifar10", mine.config) == Pictures((32, 32, 3), 10, 50_000, 10_000)


@pytest.mark.parametrize(
    ("hours", "text"), [(1 / 3600, "1 s"), (0.05, "3 min"), (2, "2 h"), (48, "2 d")]
)
def test_durations(hours, text):
    assert duration(hours) == text
    assert size(3.2e9) == "3.2 GB"
    assert size(10) == "0.01 kB"
