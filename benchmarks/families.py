"""Compare all public functions with plain autograd, for families of public models.

    python benchmarks/families.py                     about 15 minutes of CPU time
    python benchmarks/families.py --only timm vit     some libraries or families
    python benchmarks/families.py --part 1/3          the first third of them
    python benchmarks/families.py --written           the section of the page, from the stored table

Models have random weights and tiny settings, and nothing is downloaded. benchmarks/families.txt
says how to make an environment that has them. The table of the run is written to
benchmarks/results/families/families.csv, and its summary into docs/reliability.md. Where a run
computes some of the families, the table keeps the others.
"""

import argparse
import copy
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import torch  # noqa: E402
from benchmarks import family_images, family_models, family_page  # noqa: E402
from benchmarks.family_models import Family  # noqa: E402
from benchmarks.family_reference import (  # noqa: E402
    Inputs,
    Reference,
    called,
    converted,
    count,
    in_double,
    reference_of,
    rows_of,
    shaken,
)
from torch import Tensor, nn  # noqa: E402

import finitewidth as fw  # noqa: E402
from finitewidth.common.torch_setup import prepare_torch  # noqa: E402
from finitewidth.kernels.trained.graph import children_first, coarsest  # noqa: E402
from finitewidth.records.provenance import environment  # noqa: E402

# largest distance from plain autograd, over the norm of what it gives, by the lowest precision
# among the operations of a model
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}
DTYPES = (torch.float64, torch.float32)
GROWTH = 1.02  # of all parameters in a step of `kernel_over_training`
AGREES, REFUSED, WRONG, FAILED = "agrees", "refused", "differs", "fails"


@dataclass(frozen=True)
class Call:
    """A call of a public function, and what it must return."""

    name: str
    run: Callable[[], Any]
    wanted: Any


@dataclass(frozen=True)
class Outcome:
    """What a call did.

    Attributes:
        name: of the function.
        state: agrees, differs, refused or fails.
        difference: norm of the distance from what it must return, over the norm of that.
        words: of the refusal or the error, and of warnings.
        warned: whether there was a warning of ours.
    """

    name: str
    state: str
    difference: float
    words: str
    warned: bool


def main(arguments: list[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    if options.written:
        print(family_page.write(ROOT))
        return
    prepare_torch(1)
    warnings.filterwarnings("ignore", module="(transformers|timm|torch)")
    described, failed = facts(), []
    for family in families(options.only, options.part):
        try:
            rows = list(rows_of_family(family, options.traces))
        except Exception as error:  # the model itself; the others are computed all the same
            failed.append(f"{family.library} {family.name}: {type(error).__name__}: {error}")
            continue
        family_page.store(pd.DataFrame(rows).assign(**described), ROOT)
    if failed:
        raise SystemExit("plain autograd fails:\n" + "\n".join(failed))
    print(family_page.write(ROOT))


def parser() -> argparse.ArgumentParser:
    wanted = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    wanted.add_argument("--only", nargs="+", default=[], help="names of libraries or families")
    wanted.add_argument("--part", help="such as 2/4, the second quarter of all families")
    wanted.add_argument("--traces", action="store_true", help="print where errors come from")
    wanted.add_argument("--written", action="store_true", help="compute nothing")
    return wanted


def families(only: list[str], part: str | None) -> list[Family]:
    found = [*family_models.families(), *family_images.families()]
    if only:
        found = [each for each in found if {each.name, each.library} & {*only}]
    if part:
        number, parts = (int(word) for word in part.split("/"))
        found = found[number - 1 :: parts]
    return found


def facts() -> dict[str, str]:
    """Return what describes a run."""
    found, packages = environment(), ("torch", "numpy", "transformers", "timm")
    return {
        "processor": found["machine"]["processor"],
        "versions": ", ".join(
            [f"Python {found['python']}", *(f"{name} {version(name)}" for name in packages)]
        ),
        "commit": (found["git"]["commit"] or "none")[:10],
        "date": date.today().isoformat(),
    }


def rows_of_family(family: Family, traces: bool) -> Iterator[dict[str, Any]]:
    """Make the model of a family, and yield a row for each type."""
    torch.manual_seed(0)
    network, x = shaken(family.make().eval()), family.inputs()
    reference = reference_of(network, family.of, x)
    after = reference_of(network, family.of, rows_of(x, slice(0, 2)), grow)
    for dtype in DTYPES:
        made = copy.deepcopy(network)
        made = in_double(made) if dtype == torch.float64 else made
        row = row_of(family, made, converted(x, dtype), reference, after, traces)
        print(
            f"{row['library']} {row['family']}, {row['dtype']}: {row['agree']} of "
            f"{row['functions']} agree, {row['difference']:.1e} at {row['at']}, "
            f"{row['seconds']:.1f} s {row['words']}",
            flush=True,
        )
        yield row


def grow(network: nn.Module) -> None:
    """A step of a training, in place of one that descends."""
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(GROWTH)


def row_of(
    family: Family,
    network: nn.Module,
    x: Inputs,
    reference: Reference,
    after: Reference,
    traces: bool,
) -> dict[str, Any]:
    """Call all functions, and return a row of the table."""
    lowest = lowest_precision(family, network, x)
    start = time.process_time()
    asked = list(calls(family, network, x, reference, after))
    outcomes = [outcome(call, TOLERANCE[lowest], traces) for call in asked]
    seconds = time.process_time() - start
    states = [each.state for each in outcomes]
    finite = [each for each in outcomes if np.isfinite(each.difference)]
    worst = max(finite, key=lambda each: each.difference, default=None)
    words = dict.fromkeys(f"{each.name}: {each.words}" for each in outcomes if each.words)
    return {
        "library": family.library,
        "family": family.name,
        "group": family.group,
        "model": type(network).__name__,
        "parameters": sum(p.numel() for p in network.parameters()),
        "dtype": str(next(network.parameters()).dtype).removeprefix("torch."),
        "lowest": str(lowest).removeprefix("torch."),
        "mixes": family.mixes,
        "functions": len(outcomes),
        "agree": states.count(AGREES),
        "warned": sum(each.warned for each in outcomes),
        "refused": states.count(REFUSED),
        "wrong": states.count(WRONG) + states.count(FAILED),
        "difference": worst.difference if worst else np.nan,
        "at": worst.name if worst else "",
        "seconds": round(seconds, 2),
        "words": " | ".join(words),
    }


def lowest_precision(family: Family, network: nn.Module, x: Inputs) -> torch.dtype:
    """Return the type of the lowest precision among the operations of a model."""
    network = copy.deepcopy(network)  # some models keep what they compute
    outputs = called(family.of(network) or network, x)
    return coarsest(children_first(outputs.grad_fn))


def calls(
    family: Family, network: nn.Module, x: Inputs, reference: Reference, after: Reference
) -> Iterator[Call]:
    """Yield the calls of all public functions that take a module."""
    of, N = family.of(network), count(x)
    options: dict[str, Any] = {"of": of} if of else {}
    train, test = slice(0, N // 2), slice(N // 2, N)
    first, rest = rows_of(x, train), rows_of(x, test)

    def of_all(name: str, wanted: Any, **more: Any) -> Call:
        return Call(name, lambda: getattr(fw, name)(network, x, **options, **more), wanted)

    yield of_all("traced_kernel", reference.traced)
    yield of_all("full_kernel", reference.full)
    yield of_all("kernel_terms", reference.terms)
    yield Call(
        "kernel_diagonal", lambda: kernel_diagonal(network, x, **options), reference.diagonal
    )
    yield of_all("output_norms", reference.norms)
    yield Call(
        "largest_eigenvalue",
        lambda: fw.largest_eigenvalue(network, x, tolerance=1e-9, **options).value,
        reference.largest,
    )
    for kind, full in (("traced", reference.traced), ("full", reference.full)):
        wanted = full[..., test, :][..., train] if kind == "traced" else full[:, test][..., train]
        yield Call(
            f"cross_kernel, {kind}",
            lambda kind=kind: fw.cross_kernel(network, rest, first, kind=kind, **options),
            wanted,
        )
    yield of_all("tiled_kernel", reference.traced, tile=N // 2 + 1)
    yield training(family, network, rows_of(x, slice(0, 2)), reference.traced[:2, :2], after)
    yield regression(family, network, x, reference)
    if family.images and isinstance(x, Tensor) and x.dtype == torch.float64:
        yield study(network, x, reference)


def kernel_diagonal(network: nn.Module, x: Inputs, **options: Any) -> Tensor:
    from finitewidth.kernels.trained import kernel_diagonal as diagonal

    return diagonal(network, x, **options)


def training(
    family: Family, network: nn.Module, x: Inputs, before: Tensor, after: Reference
) -> Call:
    """A training of one step, whose kernels are computed before and after it."""
    trained = copy.deepcopy(network)
    of = family.of(trained)
    options: dict[str, Any] = {"of": of} if of else {}

    def run() -> Tensor:
        return fw.kernel_over_training(trained, x, lambda: grow(trained), [0, 1], **options)

    return Call("kernel_over_training", run, torch.stack([before, after.traced]))


def regression(family: Family, network: nn.Module, x: Inputs, reference: Reference) -> Call:
    """The linearised network, fitted to half of the inputs, on the others.

    Several arguments are given by the numbers of their rows.
    """
    function = family.of(network) or network
    N, K = reference.outputs.shape
    train, test = slice(0, N // 2), slice(N // 2, N)
    targets = np.random.default_rng(0).normal(size=(N // 2, K))
    if isinstance(x, Tensor):
        rows, of = x, function
    else:
        rows = torch.arange(N)[:, None]
        of = lambda at: function(**rows_of(x, at[:, 0]))  # noqa: E731

    def run() -> Tensor:
        model = fw.KernelRegression(
            network, kind="full", ridge=reference.ridge, from_network=True, of=of
        )
        return torch.as_tensor(model.fit(rows[train], targets).predict(rows[test]))

    return Call("KernelRegression", run, torch.tensor(reference.predicted(targets, train, test)))


def study(network: nn.Module, x: Tensor, reference: Reference) -> Call:
    """The first kernel of a study, whose inputs are sorted by class."""
    labels = torch.arange(len(x)) % reference.outputs.shape[1]
    order = labels.argsort(stable=True)
    above = torch.triu_indices(len(x), len(x))

    def run() -> Tensor:
        found = fw.study(
            network, (x, labels), steps=1, per_class=2, batch_size=2, device="cpu", progress=False
        )
        rows = found.tables["entries"]
        first = rows[(rows["kernel"] == "tangent kernel") & (rows["step"] == 0)]
        return torch.tensor(first["value"].to_numpy())

    return Call("study", run, reference.traced[order][:, order][above[0], above[1]])


def outcome(call: Call, tolerance: float, traces: bool) -> Outcome:
    """Run a call and compare what it returns."""
    state, difference, words = AGREES, np.nan, []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            difference = distance(call.run(), call.wanted)
            state = AGREES if difference <= tolerance else WRONG
        except fw.ConfigError as error:
            state, words = REFUSED, [str(error)]
        except Exception as error:  # whatever a network or the library raises is a row
            state, words = FAILED, [f"{type(error).__name__}: {error}"]
            if traces:
                traceback.print_exc()
    ours = [str(each.message) for each in caught if str(each.message).startswith("network:")]
    return Outcome(call.name, state, difference, "; ".join([*words, *ours]), bool(ours))


def distance(found: Any, wanted: Any) -> float:
    """Return the norm of the difference over the norm of what is wanted."""
    if isinstance(wanted, dict):
        total = sum(wanted.values())
        zero = torch.zeros_like(total)
        names = {*found, *wanted}
        return max(
            float((found.get(name, zero) - wanted.get(name, zero)).norm() / total.norm())
            for name in names
        )
    found, wanted = found.detach().double(), wanted.double()
    if found.shape != wanted.shape:
        return np.inf
    return float((found - wanted).norm() / wanted.norm())


if __name__ == "__main__":
    main()
