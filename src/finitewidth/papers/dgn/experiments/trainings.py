"""The trainings of dgn: one function per family that workflow/papers/dgn.yaml declares.

Each takes the settings section that the declaration names and yields the stacks to train. Names of
replicas name random streams; they keep the words of the first version, such as ``dgn/table4``, so
that results stay the same. Imports no torch.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from finitewidth.experiments.planned import PlannedTraining
from finitewidth.networks.architecture import Architecture
from finitewidth.training.run import DataChoice, Replica, TrainingRun

FROZEN = ("frnpf_di", "galu", "flnpf")  # the order in which they stand in their stack


def mnist(mnist: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """ReLU and GaLU, each on images, random labels and random pixels in one stack."""
    variants = ("original", "random_labels", mnist["pixels"])
    for regime in ("relu", "galu"):
        replicas = [
            replica
            for variant in variants
            for replica in _replicas(regime, "dgn/mnist", mnist, variant=variant)
        ]
        run = TrainingRun(replicas=tuple(replicas), **_common("mnist", mnist))
        yield PlannedTraining(name=f"mnist-{regime}", run=run, dataset=mnist["dataset"])


def binary(binary: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """Experiments 3 to 5: ReLU, the two soft networks, and all whose gates are frozen.

    Frozen ReLU starts where ReLU starts and sees the images in the same order (experiment 4).
    Learnt and unlearned gates share value weights and order (experiment 5), which differ from
    those of the ReLU networks the learnt gates come from.
    """
    gate = binary["gate"]
    soft_galu = {"soft": "soft_galu", "hard": "dlnpf"}[binary["feature_hidden"]]
    start, fresh = "dgn/binary", "dgn/binary/fresh"
    common = {
        **_common("binary", binary, classes=tuple(binary["classes"])),
        "loss": "squared",
        "snapshots": tuple(range(0, binary["epochs"] + 1, binary["every"])),
    }
    frozen = {
        "frnpf_di": _replicas("frnpf_di", start, binary),
        "galu": _replicas("galu", fresh, binary),
        "flnpf": _replicas("flnpf", fresh, binary, pretrained="last"),
    }
    stacks = {
        "relu": _replicas("relu", start, binary),
        "soft_relu": _replicas("soft_relu", start, binary, **gate),
        "soft_galu": _replicas(soft_galu, start, binary, **gate),
        "frozen": tuple(replica for regime in FROZEN for replica in frozen[regime]),
    }
    for name, replicas in stacks.items():
        keep = ("last",) if name == "relu" else ()
        yield PlannedTraining(
            name=f"binary-{name}",
            run=TrainingRun(replicas=replicas, keep=keep, **common),
            dataset=binary["dataset"],
            earlier="binary-relu" if name == "frozen" else None,
        )


def sweep(sweep: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """Deep linear and ReLU networks, and soft-ReLU with all its gates in one stack."""
    soft = [
        replica
        for eps in sweep["eps"]
        for beta in sweep["beta"]
        for replica in _replicas("soft_relu", "dgn/table4", sweep, beta=beta, eps=eps)
    ]
    stacks = {regime: _replicas(regime, "dgn/table4", sweep) for regime in ("linear", "relu")}
    for regime, replicas in {**stacks, "soft_relu": tuple(soft)}.items():
        run = TrainingRun(replicas=replicas, **_common("table4", sweep))
        yield PlannedTraining(name=f"sweep-{regime}", run=run, dataset=sweep["dataset"])


def gates_only(settings: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """Experiment 6: soft gates learn, the weights they gate stay random."""
    regime = "gates_and_output" if settings["train_output"] else "gates_only"
    replicas = _replicas(regime, "dgn/gates_only", settings, **settings["gate"])
    run = TrainingRun(replicas=replicas, **_common("gates_only", settings))
    yield PlannedTraining(name="gates_only", run=run, dataset=settings["dataset"])


def _replicas(
    regime: str, stream: str, settings: Mapping[str, Any], **more: Any
) -> tuple[Replica, ...]:
    """A replica per run; those of one stream start alike and see the images in the same order."""
    return tuple(
        Replica(
            name=f"{stream}/run{seed}",
            regime=regime,
            seed=seed,
            step_size=settings["step_size"],
            **more,
        )
        for seed in range(settings["runs"])
    )


def _common(
    row: str, settings: Mapping[str, Any], classes: Sequence[int] | None = None
) -> dict[str, Any]:
    return {
        "row": row,
        "architecture": Architecture.from_mapping(settings["network"]),
        "data": DataChoice(
            classes=classes,
            train=settings["train"],
            test=settings["test"],
            pool=settings.get("pool", 1),
        ),
        "optimiser": settings["optimiser"],
        "batch_size": settings["batch_size"],
        "epochs": settings["epochs"],
    }
