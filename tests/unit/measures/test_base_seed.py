"""Another base seed changes what is drawn and trained, and where it is written; nothing else."""

import numpy as np
import pytest
from tests.helpers.workflow_plans import plan

from finitewidth.data import bundled
from finitewidth.data.select import altered, stratified_subset
from finitewidth.errata import evidence
from finitewidth.measures.job import run_experiment
from finitewidth.pipeline.plans.planned_jobs import plans_of_jobs
from finitewidth.records.provenance import base_seed

DEPTH = {
    "draws": 200,
    "paper_draws": 50,
    "pairs": [[2, 0]],
    "widths": [10],
    "largest_depth": 3,
    "largest_lambda": 0.5,
    "points": 2,
}


def measured(folder, **seed):
    """The table of an experiment at small sizes."""
    outputs = {"curves": str(folder / "curves.csv")}
    module = "finitewidth.papers.trust.experiments.depth"
    run_experiment(module, {}, outputs, DEPTH, "c", 1, **seed)
    return (folder / "curves.csv").read_bytes()


def test_an_experiment_follows_its_base_seed(tmp_path):
    runs = {}
    for name, seed in {
        "default": {},
        "zero": {"seed": 0},
        "one": {"seed": 1},
        "again": {"seed": 1},
        "two": {"seed": 2},
    }.items():
        (tmp_path / name).mkdir()
        runs[name] = measured(tmp_path / name, **seed)
    assert runs["default"] == runs["zero"]
    assert runs["one"] == runs["again"]
    assert len({*runs.values()}) == 3


def test_subsets_and_noise_follow_the_base_seed():
    whole = bundled.digits()

    def chosen(seed):
        with base_seed(seed):
            subset = stratified_subset(whole, 50, 20, ("subset", "digits"))
            noisy = [
                altered(subset, variant)
                for variant in ("random_labels", "random_pixels", "permuted_pixels")
            ]
        arrays = subset.train_images, subset.test_images, noisy[0].train_labels
        return [a.tobytes() for a in (*arrays, *(each.train_images for each in noisy[1:]))]

    assert chosen(0) == chosen(0)
    assert all(one != other for one, other in zip(chosen(0), chosen(1), strict=True))


@pytest.mark.parametrize("name", ["digits", "warped_digits", "digits_on_patches"])
def test_datasets_do_not_depend_on_the_base_seed(name):
    make = getattr(bundled, name)
    with base_seed(1):
        other = make()
    one = make()
    for array in ("train_images", "train_labels", "test_images", "test_labels"):
        assert np.array_equal(getattr(one, array), getattr(other, array)), array


def test_checks_of_misprints_do_not_depend_on_the_base_seed():
    with base_seed(1):
        other = evidence.generator("trust-2").random()
    assert evidence.generator("trust-2").random() == other
    assert plans_of_jobs(plan(seed=1))["errata"].parameters["seed"] == 0


def test_the_base_seed_is_a_parameter_of_every_job_that_draws():
    for seed in (0, 5):
        mine = plan(seed=seed)
        plans = plans_of_jobs(mine)
        for name in [*mine.jobs.experiments, *mine.jobs.trainings]:
            assert plans[name].parameters["seed"] == seed, name
