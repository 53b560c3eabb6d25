"""Claims of dgn on theorems: a variance, fits without biases, paths of a circular convolution."""

import numpy as np

from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

VARIANCE_DEPTHS = (16, 32, 64)  # each twice the one before
WIDE = (512, 1024)
FLOOR = 9 / 5  # min over a of (a - 1)^2 + (2a + 1)^2, at a = -1/5
FITTED = 0.01  # above this loss with biases, the optimiser is too weak for the claim to be judged
TOLERANCE = 1e-12  # of the largest entry: rounding only


def d02(tables: Tables) -> list[Part]:
    """Exact variances: the exponent of d at large widths, and the constants of the proof."""
    return [
        *(_exponent(tables, "open", width) for width in (0, *WIDE)),
        *(_exponent(tables, "half", width) for width in WIDE),
        *(_beside_the_proof(tables, width) for width in WIDE),
    ]


def _exponent(tables: Tables, entry: str, width: int) -> Part:
    """Exponent of d in the variance at one width (0: at large widths), extrapolated to large d.

    The exponent from depth d to 2d differs from its limit by a multiple of 1/d. That from 16 to 32
    and that from 32 to 64 give the limit.
    """
    variances = [_per_d2(tables, entry, depth, width) for depth in VARIANCE_DEPTHS]
    first, second = np.diff(np.log2(variances))  # exponents of Var w / d^2
    limit = float(2 + 2 * second - first)
    gates = "all gates open" if entry == "open" else "half of the gates open"
    networks = f"w={width}" if width else "w to infinity"
    wider = "at sigma^2 = 2/w the bound of the theorem is 4^(d-1) times as large"
    return Part(
        name=f"{gates}, {networks}: exponent of d in Var",
        value=limit,
        high=2.5,
        paper=True,
        outside=wider if entry == "half" else "",
        tolerance="the printed exponent is 2; 2.5 is half-way to the next whole number",
    )


def _beside_the_proof(tables: Tables, width: int) -> Part:
    """The variance at the largest depth over the sum of the cases of the proof.

    Cases 1, 4, 6, ... sum to 32 d^2/w, times 1 / (1 - 4d/w^2); cases 3, 7, ... to 4/w of it, and
    cases 2, 5, 8, ... to 16 d^3/w^2 (with the power of w that case 2 should have).
    """
    depth = VARIANCE_DEPTHS[-1]
    variance = _per_d2(tables, "open", depth, width) * depth**2 / width
    cases = 32 * depth**2 / width * (1 + 4 / width) + 16 * depth**3 / width**2
    return Part(
        name=f"all gates open, w={width}, d={depth}: Var over the sum of the proof's cases",
        value=variance * (1 - 4 * depth / width**2) / cases,
        high=1,
        ours="the theorem leaves its constant open; the cases of its proof print one",
        late=True,
    )


def _per_d2(tables: Tables, entry: str, depth: int, width: int) -> float:
    """Var w / d^2; for width 0 its limit for large widths."""
    rows = tables["variance"]
    form = "exact" if width else "leading"
    rows = rows[(rows["form"] == form) & (rows["entry"] == entry)]
    rows = rows[(rows["depth"] == depth) & (rows["width"] == width)]
    if rows.empty:
        raise CannotDecideError(f"no variance of {entry}, d={depth}, w={width}")
    return float(rows["per_d2"].iloc[0])


def d09(tables: Tables) -> list[Part]:
    """Without biases no training gets below the floor; with biases all architectures fit."""
    parts = []
    for (hidden, width), fits in tables["fits"].groupby(["hidden", "width"]):
        name = f"{hidden} hidden layers of {width}"
        lowest = fits.groupby("biases")["lowest"].min()
        if set(lowest.index) != {0, 1}:
            raise CannotDecideError(f"{name}: trainings with and without biases are needed")
        if lowest[1] > FITTED:
            raise CannotDecideError(f"{name}: with biases the loss stays at {lowest[1]:.3g}")
        name += ", no biases: least sum of squares at any step of any run"
        least = float(lowest[0])
        parts.append(
            Part(name=name, value=least, low=FLOOR - 1e-6, paper=True, tolerance="rounding")
        )
    return parts


def d25(tables: Tables) -> list[Part]:
    """Paths share strengths, and the averaged output's kernel is invariant to circular shifts."""
    connections = tables["connections"]
    paths = tables["paths"]
    kernel = tables["kernel"]
    if connections.empty or paths.empty or kernel.empty:
        raise CannotDecideError("no paths or no kernel were listed")
    if kernel[["pooled", "lemma"]].isna().any(axis=None):
        raise CannotDecideError("entries of the kernel lack a value")
    inputs = int(connections["start"].max())
    taps = int(connections["tap"].max())
    strengths = taps ** int(connections["layer"].max())
    sharing = paths.groupby("bundle")["path"].count()
    scale = float(kernel["pooled"].abs().max())
    if not scale:
        raise CannotDecideError("every entry of the kernel is 0, so that no shift could change it")
    pairs = kernel.groupby(["gating", "s", "s_prime"])["pooled"]
    change = float((pairs.max() - pairs.min()).max()) / scale
    error = float((kernel["pooled"] - kernel["lemma"]).abs().max()) / scale
    return [
        _exactly("number of paths", len(paths), inputs * strengths),
        _exactly("number of path strengths", len(sharing), strengths),
        _exactly("fewest paths that share a strength", int(sharing.min()), inputs),
        _exactly("most paths that share a strength", int(sharing.max()), inputs),
        Part(
            name="kernel beside the sum over bundles, relative",
            value=error,
            high=TOLERANCE,
            paper=True,
            tolerance="rounding",
        ),
        Part(
            name="largest change of the kernel under a shift, relative",
            value=change,
            high=TOLERANCE,
            paper=True,
            tolerance="rounding",
        ),
    ]


def _exactly(name: str, value: int, expected: int) -> Part:
    return Part(name=name, value=value, low=expected, high=expected, paper=True)
