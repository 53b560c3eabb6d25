"""Small trainings that tests interrupt, repeat and compare."""

import torch
from tests.helpers.project import ROOT

from finitewidth.declarations.papers import read_papers
from finitewidth.networks.architecture import Architecture
from finitewidth.pipeline.jobs import Jobs
from finitewidth.training.images import Images
from finitewidth.training.run import Replica, TrainingRun

EPOCHS, STEPS = 4, 3  # 40 images in batches of 16: the last is smaller


def replicas_of(regime="relu", step_sizes=(0.1, 0.1, 0.02), **more):
    if regime in ("dlnpf", "soft_relu"):
        more = {"beta": 4.0, "eps": 0.1, **more}
    return tuple(
        Replica(name=f"run {seed}", regime=regime, seed=seed, step_size=size, **more)
        for seed, size in enumerate(step_sizes)
    )


def described(regime="relu", optimiser="sgd", **changes):
    usual = {
        "row": "row",
        "replicas": replicas_of(regime),
        "architecture": Architecture(dense=(6, 5)),
        "optimiser": optimiser,
        "batch_size": 16,
        "epochs": EPOCHS,
        "snapshots": (0, 2),
        "keep": ("best_test", "best_validation", "last"),
        "best_so_far": (1, 3),
    }
    return TrainingRun(**{**usual, **changes})


def make_images(count=40, tested=11, outputs=3, shape=(8,)):
    stream = torch.Generator().manual_seed(1)
    return Images(
        train_x=torch.rand(count, *shape, generator=stream),
        train_y=torch.randint(0, outputs, (count,), generator=stream),
        test_x=torch.rand(tested, *shape, generator=stream),
        test_y=torch.randint(0, outputs, (tested,), generator=stream),
        outputs=outputs,
    )


IMAGES = make_images()


def planned_trainings(paper, settings):
    """Name -> training, of all that a paper declares."""
    declared = next(p for p in read_papers(ROOT / "workflow/papers") if p.name == paper)
    jobs = Jobs([declared], {"preset": "paper", paper: settings})
    return {training.name: training for training in jobs.trainings.values()}
