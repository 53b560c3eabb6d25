"""The words of footers: ``3 to 5 runs``; and what differs from the paper: ``epochs 30 of 300``."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from finitewidth.claims.needs import is_original
from finitewidth.common.number_words import listed
from finitewidth.data.catalogue import ROLES, SOURCES
from finitewidth.networks.architecture import Architecture
from finitewidth.settings.nested import leaves
from finitewidth.training.planned import PlannedTraining
from finitewidth.training.run import Replica

MOST = 6  # statements shown; a seventh is shown rather than counted
MOST_VALUES = 4  # values of one statement
MOST_CHOICES = 3  # differing choices of our own in one footer
MOST_ENTRIES = 8  # entries of a list
LAYERS, TRAIN, TEST, EPOCHS, RUNS = "layers", "training images", "test images", "epochs", "runs"
ORDER = (LAYERS, TRAIN, TEST, EPOCHS, RUNS)  # the other statements follow
# A number of these that is smaller than the paper's is written "30 of 300".
COUNTED = frozenset(
    {
        TRAIN,
        TEST,
        EPOCHS,
        RUNS,
        "draws",
        "steps",
        "width",
        "depth",
        "samples",
        "points",
        "images",
        "copies",
        "inputs",
        "datasets",
        "class",
        "shown",
        "sample",
    }
)
NAMES = {
    "train": TRAIN,
    "test": TEST,
    "pool": "pixels averaged per side",
    "batch_size": "batch size",
    "per_class": "images per class",
    "step_size": "step size",
    "init": "initialisation",
    "bias": "biases",
    "global_average_pooling": "global average pooling",
    "shown": "runs shown",
    "paper_draws": "draws of the paper-sized sample",
}

NAMED_LAYERS = re.compile(r"(channels|dense layers|hidden layers) ")


@dataclass(frozen=True)
class Difference:
    """One value of this run and that of the paper; ``what`` names it."""

    what: str
    ours: Any
    theirs: Any

    @property
    def smaller(self) -> bool:
        """Whether it makes a training smaller: its images, their pixels, its layers or epochs."""
        if self.what in (LAYERS, NAMES["pool"]):
            return True
        if self.what not in (TRAIN, TEST, EPOCHS) or self.ours is None:
            return False
        return self.theirs is None or self.ours < self.theirs


def of_training(ours: PlannedTraining, theirs: PlannedTraining, source: str) -> list[Difference]:
    """What differs between a training of this run and the same training of the paper.

    If ``source`` is the paper's own dataset or a re-encoded copy, "all images" is their number.
    """
    one, other = _described(ours), _described(theirs)
    if is_original(source, ours.dataset):
        for what, number in zip((TRAIN, TEST), SOURCES[source].images or (None, None), strict=True):
            one[what], other[what] = one[what] or number, other[what] or number
    return list(_between(one, other))


def of_settings(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[Difference]:
    """What differs between the settings of an experiment and those of the paper."""
    return list(_between(_flat(ours), _flat(theirs)))


def in_words(differences: Iterable[Difference], first: Sequence[str] = ()) -> tuple[str, ...]:
    """All differences as short statements after ``first``, those of `ORDER` first, equal merged."""
    grouped: dict[str, dict[str, None]] = {}
    for one in differences:
        grouped.setdefault(one.what, {})[_pair(one)] = None
    statements = [*first]
    for what in sorted(grouped, key=lambda what: (*ORDER, what).index(what)):
        pairs = list(grouped[what])
        more = [f"{len(pairs) - MOST_VALUES} more"] * (len(pairs) > MOST_VALUES)
        named = "" if what == LAYERS else what
        statements.append(f"{named} {listed(pairs[:MOST_VALUES] + more)}".strip())
    if len(statements) > MOST + 1:
        statements = [*statements[:MOST], f"and {len(statements) - MOST} more"]
    return tuple(statements)


def _described(training: PlannedTraining) -> dict[str, Any]:
    """What a training does: name in words -> value, in the order of a footer."""
    run = training.run
    return {
        "dataset": ROLES[training.dataset],
        "classes": run.data.classes,
        TRAIN: run.data.train,
        TEST: run.data.test,
        NAMES["pool"]: run.data.pool,
        **_network(asdict(run.architecture)),
        EPOCHS: run.epochs,
        RUNS: len({replica.seed for replica in run.replicas}),
        "loss": run.loss,
        "optimiser": run.optimiser,
        "batch size": run.batch_size,
        **_spacing("evaluations", run.snapshots),
        **_spacing("stages", run.best_so_far),
        **_variants(run.replicas),
    }


def _spacing(name: str, epochs: Sequence[int]) -> dict[str, int]:
    """The distance of the first two epochs; how many there are follows from the epochs."""
    if len(epochs) < 2:
        return {}
    return {f"epochs between {name}": epochs[1] - epochs[0]}


def _variants(replicas: Sequence[Replica]) -> dict[str, Any]:
    """In what the networks that are trained together differ."""
    # "best_so_far10" is a start; its epoch follows from the distance of the stages
    starts = [(replica.pretrained or "").rstrip("0123456789") for replica in replicas]
    return {
        "step size": _distinct(replica.step_size for replica in replicas),
        "beta": _distinct(replica.beta for replica in replicas),
        "epsilon": _distinct(replica.eps for replica in replicas),
        "regimes": _distinct(replica.regime for replica in replicas),
        "kinds of images": _distinct(replica.variant for replica in replicas),
        "stages": len({replica.stage for replica in replicas}),
        "starts": _distinct(starts),
    }


def _network(architecture: Mapping[str, Any]) -> dict[str, Any]:
    channels = _sizes(architecture["channels"])
    dense = _sizes(architecture["dense"])
    if channels:
        layers = f"channels {channels}, dense layers {dense or 'none'}"
    else:
        layers = f"hidden layers {dense}"
    described = {LAYERS: layers}
    for name, value in architecture.items():
        if name not in ("channels", "dense"):
            described[NAMES.get(name, name)] = value
    return described


def _sizes(widths: Sequence[int]) -> str:
    """``64-64-128``; ``5 × 128`` of many equal ones."""
    if len(widths) > 2 and len(set(widths)) == 1:
        return f"{len(widths)} × {widths[0]}"
    return "-".join(map(str, widths))


def _distinct(values: Iterable[Any]) -> Any:
    distinct = list(dict.fromkeys(value for value in values if value not in (None, "")))
    return distinct[0] if len(distinct) == 1 else distinct


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Name in words -> value, of nested settings; a network as for trainings."""
    flat: dict[str, Any] = {}
    network = settings.get("network")
    if isinstance(network, Mapping) and "kind" in network:
        flat |= _network(asdict(Architecture.from_mapping(network)))
        settings = {name: value for name, value in settings.items() if name != "network"}
    for (*parents, last), value in leaves(settings).items():
        where = f"{' '.join(parents)}: " if parents and parents[-1] != last else ""
        flat[f"{where}{NAMES.get(last, last)}".replace("_", " ")] = value
    return flat


def _between(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[Difference]:
    for what in dict.fromkeys((*ours, *theirs)):
        if ours.get(what) != theirs.get(what):
            yield Difference(what, ours.get(what), theirs.get(what))


def _pair(one: Difference) -> str:
    """``30 of 300``; ``0.02 (paper 0.01)``; empty if there is nothing to tell but the name."""
    ours, theirs = one.ours, one.theirs
    if ours is theirs is None:
        return ""
    counted = one.what in COUNTED or one.what.rsplit(maxsplit=1)[-1] in COUNTED
    if counted and isinstance(ours, int) and isinstance(theirs, int) and ours < theirs:
        return f"{ours:,} of {theirs:,}"
    if _list(ours) and _list(theirs) and len(theirs) > MOST_VALUES and {*ours} < {*theirs}:
        return f"{len(ours)} of {len(theirs)} values"
    if one.what == LAYERS:
        return f"{ours} (paper {NAMED_LAYERS.sub('', theirs)})"
    missing = "all" if one.what in (TRAIN, TEST) else "none"
    return f"{_value(ours, missing)} (paper {_value(theirs, missing)})"


def _list(value: Any) -> bool:
    return isinstance(value, list | tuple) and not any(isinstance(v, list | tuple) for v in value)


def _value(value: Any, missing: str) -> str:
    if value is None or value in ([], ()):
        return missing
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        if len(value) > MOST_ENTRIES or any(isinstance(v, list | tuple) for v in value):
            return f"{len(value)} values"
        return listed([_value(entry, missing) for entry in value])
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return str(value).replace("_", " ")


# --- parts of a footer ---------------------------------------------------------------------------


def pooled(sections: Iterable[Mapping[str, Any]]) -> list[str]:
    """That images are averaged over squares of pixels, and whether all networks see them so."""
    images = [each.get("images", each) for each in sections if "dataset" in each or "rows" in each]
    pools = dict.fromkeys(each.get("pool", 1) for each in images)
    some = " for some networks" * (len(pools) > 1)
    return [f"pixels averaged {pool}×{pool}{some}" for pool in pools if pool > 1]


def counted(counts: Mapping[str, Mapping[str, int]]) -> str:
    """``3 to 5 runs``, ``20 runs and 4,000 draws``, or that there are none.

    ``counts`` has unit -> part of what is counted -> number.
    """
    parts = [(unit, numbers.values()) for unit, numbers in counts.items() if numbers]
    words = [f"{_range(numbers)} {_unit(unit, numbers)}" for unit, numbers in parts]
    return " and ".join(words) or "computed exactly, no draws"


def counted_by_panel(counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """``(a) 3, (c, d) 5 runs``, from the numbers of each panel; as `counted` if all are alike."""
    words = []
    for unit in dict.fromkeys(unit for panel in counts.values() for unit in panel):
        letters: dict[str, list[str]] = {}
        numbers = [number for panel in counts.values() for number in panel[unit].values()]
        for letter, panel in counts.items():
            if panel[unit]:
                letters.setdefault(_range(panel[unit].values()), []).append(letter)
        parts = [f"({', '.join(named)}) {amount}" for amount, named in letters.items()]
        if parts:
            amounts = ", ".join(parts) if len(parts) > 1 else next(iter(letters))
            words.append(f"{amounts} {_unit(unit, numbers)}")
    return " and ".join(words) or counted({})


def _range(numbers: Collection[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _unit(unit: str, numbers: Collection[int]) -> str:
    """The unit, in the singular for one."""
    return unit[:-1] if set(numbers) == {1} else unit


def named(choices: Sequence[str], most: int = MOST + 1) -> str:
    """Which of our own choices differ, the first few in words."""
    more = len(choices) - most
    words = ", ".join(choices[:most]) + (f" and {more} more" if more > 0 else "")
    return f"our own choice: {words.replace('(paper ', '(preset paper ')}"
