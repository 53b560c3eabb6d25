"""The trainings of npf: one function per family that workflow/papers/npf.yaml declares.

Each takes the settings sections that the declaration names and yields the stacks to train. Names of
replicas name random streams; they keep the words of the first version, such as ``npf/table2``, so
that results stay the same. Imports no torch.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from finitewidth.experiments.planned import PlannedTraining
from finitewidth.networks.architecture import Architecture
from finitewidth.training.run import DataChoice, Replica, TrainingRun

FROZEN = ("frnpf_ii", "frnpf_di", "flnpf")


def regimes(regimes: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """For each row of Table 2 three stacks: ReLU, DLNPF, and all whose gates are frozen.

    The ReLU runs have random streams of their own, since FLNPF takes their gates and must start
    from weights that know nothing of them; the other regimes share streams run by run.
    """
    for row, settings in regimes["rows"].items():
        common = {
            "row": row,
            "architecture": Architecture.from_mapping(regimes["networks"][settings["network"]]),
            "data": DataChoice(
                train=settings.get("train", regimes["train"]),
                test=settings.get("test", regimes["test"]),
            ),
            "optimiser": settings["optimiser"],
            "batch_size": settings.get("batch_size", regimes["batch_size"]),
            "epochs": settings["epochs"],
        }
        search = regimes["sgd_search"] and settings["optimiser"] == "sgd"
        steps = regimes["sgd_step_sizes"] if search else [settings["step_size"]]
        name = f"npf/table2/{row}"
        yield from _regimes(name, common, settings["dataset"], steps, regimes, regimes["gate"])


def cntk(cntk: Mapping[str, Any], regimes: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """The regimes of a pooled network on the images that the kernel sees."""
    common = {
        "row": "cntk",
        "architecture": Architecture.from_mapping(regimes["networks"][cntk["network"]]),
        "data": DataChoice(train=cntk["train"], test=cntk["test"], pool=cntk["pool"]),
        "optimiser": cntk["optimiser"],
        "batch_size": cntk["batch_size"],
        "epochs": cntk["epochs"],
    }
    steps = [cntk["step_size"]]
    yield from _regimes("npf/cntk", common, cntk["dataset"], steps, cntk, regimes["gate"])


def _regimes(
    name: str,
    common: Mapping[str, Any],
    dataset: str,
    steps: Sequence[float],
    section: Mapping[str, Any],
    dlnpf_gate: Mapping[str, float],
) -> Iterator[PlannedTraining]:
    """Three stacks of ``runs`` of the section: ReLU; DLNPF; FRNPF and FLNPF, which follow ReLU.

    FLNPF starts from the ReLU weights that the section's ``flnpf_checkpoint`` names.
    """
    checkpoint, row = section["flnpf_checkpoint"], common["row"]

    def replicas(*regimes: str, prefix: str = name, **gate: float) -> tuple[Replica, ...]:
        return tuple(
            Replica(
                name=f"{prefix}/run{seed}",
                regime=regime,
                seed=seed,
                step_size=step,
                pretrained=checkpoint if regime == "flnpf" else None,
                **gate,
            )
            for step in steps
            for regime in regimes
            for seed in range(section["runs"])
        )

    relu = TrainingRun(
        replicas=replicas("relu", prefix=f"{name}/relu"), keep=(checkpoint,), **common
    )
    yield PlannedTraining(name=f"{row}-relu", run=relu, dataset=dataset)
    dlnpf = TrainingRun(replicas=replicas("dlnpf", **dlnpf_gate), **common)
    yield PlannedTraining(name=f"{row}-dlnpf", run=dlnpf, dataset=dataset)
    frozen = TrainingRun(replicas=replicas(*FROZEN), **common)
    yield PlannedTraining(name=f"{row}-frozen", run=frozen, dataset=dataset, earlier=f"{row}-relu")


def stages(
    stages: Mapping[str, Any], regimes: Mapping[str, Any]
) -> tuple[PlannedTraining, PlannedTraining]:
    """ReLU, kept at every stage; then FLNPF at all stages and FRNPF, one stack."""
    common = {
        "row": "stages",
        "architecture": Architecture.from_mapping(regimes["networks"][stages["network"]]),
        "data": DataChoice(train=stages["train"], test=stages["test"]),
        "optimiser": stages["optimiser"],
        "batch_size": stages["batch_size"],
    }
    step, seeds = stages["step_size"], range(stages["runs"])
    kept_at = tuple(stages["stage_epochs"] * stage for stage in range(1, stages["stages"] + 1))
    relu = TrainingRun(
        replicas=tuple(
            Replica(name=f"npf/stages/relu/run{seed}", regime="relu", seed=seed, step_size=step)
            for seed in seeds
        ),
        epochs=kept_at[-1],
        **{"snapshots" if stages["checkpoint"] == "epoch" else "best_so_far": kept_at},
        **common,
    )
    frozen = TrainingRun(
        replicas=tuple(
            Replica(
                name=f"npf/stages/run{seed}",
                regime="flnpf" if stage else "frnpf_ii",
                seed=seed,
                step_size=step,
                stage=stage,
                pretrained=f"{stages['checkpoint']}{kept_at[stage - 1]}" if stage else None,
            )
            for stage in range(stages["stages"] + 1)
            for seed in seeds
        ),
        epochs=stages["epochs"],
        **common,
    )
    dataset = stages["dataset"]
    return (
        PlannedTraining(name="stages-relu", run=relu, dataset=dataset),
        PlannedTraining(name="stages-frozen", run=frozen, dataset=dataset, earlier="stages-relu"),
    )


def nu(nu: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """ReLU networks telling two digits apart, kept every few epochs."""
    data = DataChoice(classes=tuple(nu["classes"]), train=nu["train"], test=nu["test"])
    run = _kept_along("nu", "relu", nu, {}, loss="squared", data=data)
    yield PlannedTraining(name="nu", run=run, dataset=nu["dataset"])


def kvf(kvf: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """DLNPF networks, kept every few epochs."""
    run = _kept_along(
        "kvf", "dlnpf", kvf, kvf["gate"], data=DataChoice(train=kvf["train"], test=kvf["test"])
    )
    yield PlannedTraining(name="kvf", run=run, dataset=kvf["dataset"])


def _kept_along(
    row: str, regime: str, settings: Mapping[str, Any], gate: Mapping[str, float], **rest: Any
) -> TrainingRun:
    """Runs of one regime whose weights are kept before training and every ``every`` epochs."""
    return TrainingRun(
        row=row,
        replicas=tuple(
            Replica(
                name=f"npf/{row}/run{seed}",
                regime=regime,
                seed=seed,
                step_size=settings["step_size"],
                **gate,
            )
            for seed in range(settings["runs"])
        ),
        architecture=Architecture.from_mapping(settings["network"]),
        optimiser=settings["optimiser"],
        batch_size=settings["batch_size"],
        epochs=settings["epochs"],
        snapshots=tuple(range(0, settings["epochs"] + 1, settings["every"])),
        **rest,
    )
