"""The trainings of dgn: one function per family that workflow/papers/dgn.yaml declares.

Each takes the settings section that the declaration names and yields the stacks to train. Names of
replicas name random streams; they keep the words of the first version, such as ``dgn/table4``, so
that results stay the same. Imports no torch.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from finitewidth.experiments.planned import PlannedTraining, common_of, replicas_of
from finitewidth.training.run import TrainingRun

FROZEN = ("frnpf_di", "galu", "flnpf")  # the order in which they stand in their stack


def mnist(mnist: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """ReLU and GaLU, each on images, random labels and random pixels in one stack."""
    variants = ("original", "random_labels", mnist["pixels"])
    for regime in ("relu", "galu"):
        replicas = [
            replica
            for variant in variants
            for replica in replicas_of(regime, "dgn/mnist", mnist, variant=variant)
        ]
        run = TrainingRun(replicas=tuple(replicas), **common_of("mnist", mnist["network"], mnist))
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
    common = common_of("binary", binary["network"], binary)
    frozen = {
        "frnpf_di": replicas_of("frnpf_di", start, binary),
        "galu": replicas_of("galu", fresh, binary),
        "flnpf": replicas_of("flnpf", fresh, binary, pretrained="last"),
    }
    stacks = {
        "relu": replicas_of("relu", start, binary),
        "soft_relu": replicas_of("soft_relu", start, binary, **gate),
        "soft_galu": replicas_of(soft_galu, start, binary, **gate),
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
        for replica in replicas_of("soft_relu", "dgn/table4", sweep, beta=beta, eps=eps)
    ]
    stacks = {regime: replicas_of(regime, "dgn/table4", sweep) for regime in ("linear", "relu")}
    for regime, replicas in {**stacks, "soft_relu": tuple(soft)}.items():
        run = TrainingRun(replicas=replicas, **common_of("table4", sweep["network"], sweep))
        yield PlannedTraining(name=f"sweep-{regime}", run=run, dataset=sweep["dataset"])


def gates_only(settings: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """Experiment 6: soft gates learn, the weights they gate stay random."""
    regime = "gates_and_output" if settings["train_output"] else "gates_only"
    replicas = replicas_of(regime, "dgn/gates_only", settings, **settings["gate"])
    run = TrainingRun(replicas=replicas, **common_of("gates_only", settings["network"], settings))
    yield PlannedTraining(name="gates_only", run=run, dataset=settings["dataset"])
