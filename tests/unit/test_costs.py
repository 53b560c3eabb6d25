"""The plan of costs: counts that scale as they should, and a formula for every experiment."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tests.training_cases import make_images

from finitewidth.common.settings import merged, preset_only
from finitewidth.data.bundled import digits, digits_on_patches
from finitewidth.data.catalogue import SOURCES
from finitewidth.networks.architecture import Architecture, layers_of
from finitewidth.pipeline.costs import formulas
from finitewidth.pipeline.costs.estimate import Rule, duration, estimate, jobs_of, size
from finitewidth.pipeline.costs.forecast import cost, forecast, pictures
from finitewidth.pipeline.costs.trainings import Pictures, checkpoint, positions, training
from finitewidth.pipeline.costs.work import NOTHING, REFERENCE, Machine, Work, gpu, here
from finitewidth.pipeline.plan import Plan
from finitewidth.training import loop
from finitewidth.training.run import Replica, TrainingRun

ROOT = Path(__file__).parents[2]
RULES = "".join(file.read_text() for file in sorted((ROOT / "workflow/rules").glob("*.smk")))
EXPERIMENTS = re.findall(r"^use rule experiment as (\w+)", RULES, re.M)
MACHINE = Machine(name="m", flops=1, convolutions=1, elements=1, draws=1, calls=1, start=0, torch=0)
DIGITS = Pictures((8, 8, 1), 10, 1000, 100)


def plan(preset="quick", **over):
    return Plan(merged(preset_only(preset, ROOT / "config"), over), ROOT)


def run(regime="relu", beta=None, **changes):
    replica = Replica(name="a", regime=regime, seed=0, step_size=0.1, beta=beta)
    fields = {
        "row": "r", "replicas": (replica,), "architecture": Architecture(dense=(64, 64)),
        "epochs": 3, "batch_size": 10,
    }  # fmt: skip
    return TrainingRun(**fields | changes)


@pytest.mark.parametrize("rule", EXPERIMENTS)
@pytest.mark.parametrize("preset", ["smoke", "quick", "laptop", "paper"])
def test_every_experiment_has_a_formula_that_works_at_every_preset(rule, preset):
    work = formulas.experiment(rule, plan(preset).config)
    assert work.jobs == 1
    assert work.operations + work.calls > 0


def test_formulas_belong_to_rules():
    assert set(formulas.EXPERIMENTS) == set(EXPERIMENTS)


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
    total = Work(flops=1, memory=5) + Work(flops=2, memory=3, torch=1)
    assert (total.flops, total.memory, total.jobs, total.torch) == (3, 5, 2, 1)
    assert (Work(calls=2) * 3).calls == 6
    assert (Work() * 3).jobs == 1


def test_machines_are_positive_and_a_gpu_gains_on_products_only():
    mine, device = here(2), gpu(150)
    assert mine.workers == 2
    assert min(mine.flops, mine.elements, mine.draws, mine.calls) > 0
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
    costs = {"long": Work(flops=3600), "short": Work(flops=360)}
    two = replace(MACHINE, workers=2)
    assert estimate("x", costs, costs, MACHINE, MACHINE).hours == pytest.approx(1.1)
    assert estimate("x", costs, costs, two, MACHINE).hours == pytest.approx(1.0)
    assert estimate("x", [], costs, two, MACHINE).work == NOTHING


def test_the_forecast_names_every_artifact_and_grows_with_the_settings():
    graph = {name: {"inputs": list(rule.inputs), "outputs": list(rule.outputs)}
             for name, rule in GRAPH.items()}  # fmt: skip
    mine = plan()
    text = forecast(mine.config, mine.artifacts[1:2], graph, mine.trainings(), 100, MACHINE)
    assert "npf_table2" in text
    assert "GPU of 100 TFLOP/s" in text
    small, large = (cost("npf_nu", plan(npf={"nu": {"per_class": n}}).config, {}) for n in (9, 90))
    assert large.operations > 50 * small.operations


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
