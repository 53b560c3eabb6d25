"""The trainings of dgn: one function per family that workflow/papers/dgn.yaml declares.

Each takes the settings section that the declaration names and yields the stacks to train. Names of
replicas name random streams; they keep the words of the first version, such as ``dgn/table4``, so
that results stay the same. Imports no torch.
"""

from collections.abc import Iterator

from finitewidth.papers.dgn.settings import Binary, GatesOnly, Mnist, Sweep
from finitewidth.training.planned import PlannedTraining, planned, replicas_of
from finitewidth.training.run import Replica

FROZEN = ("frnpf_di", "galu", "flnpf")  # the order in which they stand in their stack


def mnist(mnist: Mnist) -> Iterator[PlannedTraining]:
    """ReLU and GaLU, each on images, random labels and random pixels in one stack."""
    for regime in ("relu", "galu"):
        replicas: list[Replica] = []
        for variant in ("original", "random_labels", mnist.pixels):
            replicas += replicas_of(regime, "dgn/mnist", mnist, variant=variant)
        yield planned(f"mnist-{regime}", "mnist", mnist.network, mnist, replicas)


def binary(binary: Binary) -> Iterator[PlannedTraining]:
    """Experiments 3 to 5: ReLU, the two soft networks, and all whose gates are frozen.

    Frozen ReLU starts where ReLU starts and sees the images in the same order (experiment 4).
    Learnt and unlearned gates share value weights and order (experiment 5), which differ from
    those of the ReLU networks the learnt gates come from.
    """
    gate = {"beta": binary.gate.beta, "eps": binary.gate.eps}
    start = "dgn/binary"
    fresh = "dgn/binary/fresh"
    soft_galu = "dlnpf" if binary.feature_hidden == "hard" else "soft_galu"
    frozen = [
        *replicas_of("frnpf_di", start, binary),
        *replicas_of("galu", fresh, binary),
        *replicas_of("flnpf", fresh, binary, pretrained="last"),
    ]
    network = binary.network
    relu = replicas_of("relu", start, binary)
    soft_relu = replicas_of("soft_relu", start, binary, **gate)
    learning = replicas_of(soft_galu, start, binary, **gate)
    yield planned("binary-relu", "binary", network, binary, relu, keep=("last",))
    yield planned("binary-soft_relu", "binary", network, binary, soft_relu)
    yield planned("binary-soft_galu", "binary", network, binary, learning)
    yield planned("binary-frozen", "binary", network, binary, frozen, earlier="binary-relu")


def sweep(sweep: Sweep) -> Iterator[PlannedTraining]:
    """Deep linear and ReLU networks, and soft-ReLU with all its gates in one stack."""
    soft_relu: list[Replica] = []
    for eps in sweep.eps:
        for beta in sweep.beta:
            soft_relu += replicas_of("soft_relu", "dgn/table4", sweep, beta=beta, eps=eps)
    stacks = {
        "linear": replicas_of("linear", "dgn/table4", sweep),
        "relu": replicas_of("relu", "dgn/table4", sweep),
        "soft_relu": soft_relu,
    }
    for regime, replicas in stacks.items():
        yield planned(f"sweep-{regime}", "table4", sweep.network, sweep, replicas)


def gates_only(settings: GatesOnly) -> Iterator[PlannedTraining]:
    """Experiment 6: soft gates learn, the weights they gate stay random."""
    regime = "gates_and_output" if settings.train_output else "gates_only"
    gate = settings.gate
    replicas = replicas_of(regime, "dgn/gates_only", settings, beta=gate.beta, eps=gate.eps)
    yield planned("gates_only", "gates_only", settings.network, settings, replicas)
