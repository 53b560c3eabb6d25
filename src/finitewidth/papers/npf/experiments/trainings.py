"""The trainings of npf: one function per family that workflow/papers/npf.yaml declares.

Each takes the settings sections that the declaration names and yields the stacks to train. Names of
replicas name random streams; they keep the words of the first version, such as ``npf/table2``, so
that results stay the same. Imports no torch.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from finitewidth.experiments.planned import PlannedTraining, common_of, replicas_of
from finitewidth.training.run import Replica, TrainingRun

FROZEN = ("frnpf_ii", "frnpf_di", "flnpf")


def regimes(regimes: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """For each row of Table 2 three stacks: ReLU, DLNPF, and all whose gates are frozen.

    The ReLU runs have random streams of their own, since FLNPF takes their gates and must start
    from weights that know nothing of them; the other regimes share streams run by run.
    """
    for row, own in regimes["rows"].items():
        settings = {**regimes, **own}
        search = regimes["sgd_search"] and own["optimiser"] == "sgd"
        steps = regimes["sgd_step_sizes"] if search else [own["step_size"]]
        yield from _regimes(row, f"npf/table2/{row}", steps, settings, regimes)


def cntk(cntk: Mapping[str, Any], regimes: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """The regimes of a pooled network on the images that the kernel sees."""
    yield from _regimes("cntk", "npf/cntk", [cntk["step_size"]], cntk, regimes)


def _regimes(
    row: str,
    name: str,
    steps: Sequence[float],
    settings: Mapping[str, Any],
    regimes: Mapping[str, Any],
) -> Iterator[PlannedTraining]:
    """Three stacks: ReLU; DLNPF; FRNPF and FLNPF, which follow ReLU.

    FLNPF starts from the ReLU weights that the setting ``flnpf_checkpoint`` names.
    """
    checkpoint, dataset = settings["flnpf_checkpoint"], settings["dataset"]
    shared = common_of(row, regimes["networks"][settings["network"]], settings)

    def stack(*names: str, prefix: str = name, **gate: float) -> tuple[Replica, ...]:
        return tuple(
            replica
            for step in steps
            for regime in names
            for replica in replicas_of(
                regime, prefix, settings, step_size=step,
                pretrained=checkpoint if regime == "flnpf" else None, **gate,
            )
        )  # fmt: skip

    relu = TrainingRun(replicas=stack("relu", prefix=f"{name}/relu"), keep=(checkpoint,), **shared)
    yield PlannedTraining(name=f"{row}-relu", run=relu, dataset=dataset)
    dlnpf = TrainingRun(replicas=stack("dlnpf", **regimes["gate"]), **shared)
    yield PlannedTraining(name=f"{row}-dlnpf", run=dlnpf, dataset=dataset)
    frozen = TrainingRun(replicas=stack(*FROZEN), **shared)
    yield PlannedTraining(name=f"{row}-frozen", run=frozen, dataset=dataset, earlier=f"{row}-relu")


def stages(stages: Mapping[str, Any], regimes: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """ReLU, kept at every stage; then FLNPF at all stages and FRNPF, one stack."""
    shared = common_of("stages", regimes["networks"][stages["network"]], stages)
    dataset, checkpoint = stages["dataset"], stages["checkpoint"]
    kept_at = tuple(stages["stage_epochs"] * stage for stage in range(1, stages["stages"] + 1))
    kept = {"snapshots" if checkpoint == "epoch" else "best_so_far": kept_at}
    relu = TrainingRun(
        replicas=replicas_of("relu", "npf/stages/relu", stages),
        **{**shared, "epochs": kept_at[-1], **kept},
    )
    yield PlannedTraining(name="stages-relu", run=relu, dataset=dataset)
    frozen = [*replicas_of("frnpf_ii", "npf/stages", stages, stage=0)]
    for stage, epoch in enumerate(kept_at, start=1):
        frozen += replicas_of(
            "flnpf", "npf/stages", stages, stage=stage, pretrained=f"{checkpoint}{epoch}"
        )
    run = TrainingRun(replicas=tuple(frozen), **shared)
    yield PlannedTraining(name="stages-frozen", run=run, dataset=dataset, earlier="stages-relu")


def nu(nu: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """ReLU networks telling two digits apart, kept every few epochs."""
    replicas = replicas_of("relu", "npf/nu", nu)
    run = TrainingRun(replicas=replicas, **common_of("nu", nu["network"], nu))
    yield PlannedTraining(name="nu", run=run, dataset=nu["dataset"])


def kvf(kvf: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """DLNPF networks, kept every few epochs."""
    replicas = replicas_of("dlnpf", "npf/kvf", kvf, **kvf["gate"])
    run = TrainingRun(replicas=replicas, **common_of("kvf", kvf["network"], kvf))
    yield PlannedTraining(name="kvf", run=run, dataset=kvf["dataset"])
