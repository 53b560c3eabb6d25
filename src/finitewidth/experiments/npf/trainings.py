"""The trainings that npf's artifacts need, as settings describe them. Imports no torch."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from finitewidth.experiments.planned import PlannedTraining
from finitewidth.networks.architecture import Architecture
from finitewidth.training.run import DataChoice, Replica, TrainingRun

FROZEN = ("frnpf_ii", "frnpf_di", "flnpf")


def trainings(npf: Mapping[str, Any]) -> dict[str, PlannedTraining]:
    """All trainings of the settings' section ``npf``, by name."""
    planned = [
        *_regime_rows(npf["regimes"]),
        *_cntk(npf["cntk"], npf["regimes"]),
        *_stages(npf["stages"], npf["regimes"]["networks"]),
        _nu(npf["nu"]),
        _kvf(npf["kvf"]),
    ]
    return {training.name: training for training in planned}


def _regime_rows(table2: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """E-NPF-T2. For each row three stacks: ReLU, DLNPF, and all whose gates are frozen.

    The ReLU runs have random streams of their own, since FLNPF takes their gates and must start
    from weights that know nothing of them; the other regimes share streams run by run.
    """
    for row, settings in table2["rows"].items():
        common = {
            "row": row,
            "architecture": Architecture.from_mapping(table2["networks"][settings["network"]]),
            "data": DataChoice(
                train=settings.get("train", table2["train"]),
                test=settings.get("test", table2["test"]),
            ),
            "optimiser": settings["optimiser"],
            "batch_size": table2["batch_size"],
            "epochs": settings["epochs"],
        }
        search = table2["sgd_search"] and settings["optimiser"] == "sgd"
        steps = table2["sgd_step_sizes"] if search else [settings["step_size"]]
        name = f"npf/table2/{row}"
        yield from _regimes(name, common, settings["dataset"], steps, table2, table2["gate"])


def _cntk(cntk: Mapping[str, Any], table2: Mapping[str, Any]) -> Iterator[PlannedTraining]:
    """E-NPF-CNTK. The regimes of a pooled network on the images that the kernel sees."""
    common = {
        "row": "cntk",
        "architecture": Architecture.from_mapping(table2["networks"][cntk["network"]]),
        "data": DataChoice(train=cntk["train"], test=cntk["test"], pool=cntk["pool"]),
        "optimiser": cntk["optimiser"],
        "batch_size": cntk["batch_size"],
        "epochs": cntk["epochs"],
    }
    steps = [cntk["step_size"]]
    yield from _regimes("npf/cntk", common, cntk["dataset"], steps, cntk, table2["gate"])


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


def _stages(
    stages: Mapping[str, Any], networks: Mapping[str, Any]
) -> tuple[PlannedTraining, PlannedTraining]:
    """E-NPF-STAGE. ReLU, kept at every stage; then FLNPF at all stages and FRNPF, one stack."""
    common = {
        "row": "stages",
        "architecture": Architecture.from_mapping(networks[stages["network"]]),
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


def _nu(nu: Mapping[str, Any]) -> PlannedTraining:
    """E-NPF-NU. ReLU networks telling two digits apart, kept every few epochs."""
    data = DataChoice(classes=tuple(nu["classes"]), train=nu["train"], test=nu["test"])
    run = _kept_along("nu", "relu", nu, {}, loss="squared", data=data)
    return PlannedTraining(name="nu", run=run, dataset=nu["dataset"])


def _kvf(kvf: Mapping[str, Any]) -> PlannedTraining:
    """E-NPF-KVF. DLNPF networks, kept every few epochs."""
    run = _kept_along(
        "kvf", "dlnpf", kvf, kvf["gate"], data=DataChoice(train=kvf["train"], test=kvf["test"])
    )
    return PlannedTraining(name="kvf", run=run, dataset=kvf["dataset"])


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
