"""Claims of dgn on what can be listed: the paths of a circular convolution network."""

from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

TOLERANCE = 1e-12  # of the largest entry: rounding only


def d25(tables: Tables) -> list[Part]:
    """Paths share strengths, and the averaged output's kernel is invariant to circular shifts."""
    connections, paths, kernel = (tables[name] for name in ("connections", "paths", "kernel"))
    if connections.empty or paths.empty or kernel.empty:
        raise CannotDecideError("no paths or no kernel were listed")
    if kernel[["pooled", "lemma"]].isna().any(axis=None):
        raise CannotDecideError("entries of the kernel lack a value")
    inputs, taps = int(connections["start"].max()), int(connections["tap"].max())
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
        Part(name="kernel beside the sum over bundles, relative", value=error, high=TOLERANCE,
             paper=True, tolerance="rounding"),
        Part(name="largest change of the kernel under a shift, relative", value=change,
             high=TOLERANCE, paper=True, tolerance="rounding"),
    ]  # fmt: skip


def _exactly(name: str, value: int, wanted: int) -> Part:
    return Part(name=name, value=value, low=wanted, high=wanted, paper=True)
