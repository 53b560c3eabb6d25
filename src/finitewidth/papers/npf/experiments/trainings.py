"""The trainings of npf: one function per family that workflow/papers/npf.yaml declares.

Each takes the settings sections that the declaration names and yields the stacks to train. Names of
replicas name random streams; they keep the words of the first version, such as ``npf/table2``, so
that results stay the same. Imports no torch.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from finitewidth.papers.npf.settings import Cntk, Kvf, Nu, Regimes, Stages
from finitewidth.training.planned import PlannedTraining, Settings, planned, replicas_of
from finitewidth.training.run import Replica

FROZEN = ("frnpf_ii", "frnpf_di", "flnpf")


def regimes(regimes: Regimes) -> Iterator[PlannedTraining]:
    """For each row of Table 2 three stacks: ReLU, DLNPF, and all whose gates are frozen.

    The ReLU runs have random streams of their own, since FLNPF takes their gates and must start
    from weights that know nothing of them; the other regimes share streams run by run.
    """
    for name, row in dict(regimes.rows).items():
        step_sizes = [row.step_size]
        if regimes.sgd_search and row.optimiser == "sgd":
            step_sizes = regimes.sgd_step_sizes
        yield from _regimes(
            name,
            f"npf/table2/{name}",
            step_sizes,
            row.network,
            regimes.flnpf_checkpoint,
            {**dict(regimes), **dict(row)},  # a row may have sizes of its own
            regimes,
        )


def cntk(cntk: Cntk, regimes: Regimes) -> Iterator[PlannedTraining]:
    """The regimes of a pooled network on the images that the kernel sees."""
    yield from _regimes(
        "cntk",
        "npf/cntk",
        [cntk.step_size],
        cntk.network,
        cntk.flnpf_checkpoint,
        cntk,
        regimes,
    )


def _regimes(
    row: str,
    prefix: str,
    step_sizes: Sequence[float],
    network_name: str,
    checkpoint: str,
    settings: Settings,
    regimes: Regimes,
) -> Iterator[PlannedTraining]:
    """Three stacks: ReLU; DLNPF; FRNPF and FLNPF, which follow ReLU.

    FLNPF starts from the ReLU weights of the ``checkpoint``.
    """
    network = dict(regimes.networks)[network_name]
    relu: list[Replica] = []
    dlnpf: list[Replica] = []
    frozen: list[Replica] = []
    gate = dict(regimes.gate)
    for step_size in step_sizes:
        relu += replicas_of("relu", f"{prefix}/relu", settings, step_size=step_size)
        dlnpf += replicas_of("dlnpf", prefix, settings, step_size=step_size, **gate)
        for regime in FROZEN:
            pretrained = checkpoint if regime == "flnpf" else None
            frozen += replicas_of(
                regime, prefix, settings, step_size=step_size, pretrained=pretrained
            )
    yield planned(f"{row}-relu", row, network, settings, tuple(relu), keep=(checkpoint,))
    yield planned(f"{row}-dlnpf", row, network, settings, tuple(dlnpf))
    yield planned(f"{row}-frozen", row, network, settings, tuple(frozen), earlier=f"{row}-relu")


def stages(stages: Stages, regimes: Regimes) -> Iterator[PlannedTraining]:
    """ReLU, with weights stored at every stage; then FLNPF at all stages and FRNPF, one stack."""
    network = dict(regimes.networks)[stages.network]
    checkpoint = stages.checkpoint
    epochs = tuple(stages.stage_epochs * stage for stage in range(1, stages.stages + 1))
    stored: dict[str, Any] = {"best_so_far": epochs}
    if checkpoint == "epoch":
        stored = {"snapshots": epochs}
    relu = replicas_of("relu", "npf/stages/relu", stages)
    yield planned("stages-relu", "stages", network, stages, relu, epochs=epochs[-1], **stored)
    frozen = [*replicas_of("frnpf_ii", "npf/stages", stages, stage=0)]
    for stage, epoch in enumerate(epochs, start=1):
        pretrained = f"{checkpoint}{epoch}"
        frozen += replicas_of("flnpf", "npf/stages", stages, stage=stage, pretrained=pretrained)
    yield planned("stages-frozen", "stages", network, stages, frozen, earlier="stages-relu")


def nu(nu: Nu) -> Iterator[PlannedTraining]:
    """ReLU networks that classify two digits; weights are stored every few epochs."""
    yield planned("nu", "nu", nu.network, nu, replicas_of("relu", "npf/nu", nu))


def kvf(kvf: Kvf) -> Iterator[PlannedTraining]:
    """DLNPF networks; weights are stored every few epochs."""
    replicas = replicas_of("dlnpf", "npf/kvf", kvf, **dict(kvf.gate))
    yield planned("kvf", "kvf", kvf.network, kvf, replicas)
