"""Made-up rows for the claims of beyond: dispersions and ratios from simple laws of L / M."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from tests.claims.synthetic import jitter

SHARES = (0.04, 0.1, 0.2, 0.3, 0.5)  # L / M
KEY = ["group", "width", "alpha_0", "sigma_w2", "depth", "x"]


def log_limit(x, variance):
    """The law that the papers' limits play here."""
    return {True: 4.0, False: 0.0}[variance > 2] * x + 3.0 * x * (variance == 2)


def grid(group, widths, alphas, variances):
    """Keys of a group of networks."""
    rows = []
    for width, alpha_0, variance, x in product(widths, alphas, variances, SHARES):
        rows.append((group, width, alpha_0, variance, int(x * width), x))
    return pd.DataFrame(
        rows,
        columns=KEY,
    )


def lines(rows, **laws):
    """Curves as rows: name of a curve -> its values at the keys."""
    return pd.concat([rows.assign(curve=name, y=values) for name, values in laws.items()])


def diagonal(factor=1.0, above=1.0):
    """The groups of Figure 1; measured r is ``factor`` times its law, chaotic ``above`` too.

    Ordered networks have r - 1 = 2 / M.
    """
    rows = grid("phases", (100, 500), (1.0,), (1.0, 1.5, 2.0, 2.5, 3.0))
    law = np.exp([log_limit(x, v) for x, v in zip(rows["x"], rows["sigma_w2"], strict=True)])
    values = np.where(rows["sigma_w2"] < 2, 1 + 2 / rows["width"], law)
    more = np.where(rows["sigma_w2"] > 2, above, 1)
    drawn = factor * more * values
    measured = rows.assign(sample="many", y=drawn, spread=1e-5)
    return {"estimates": measured, "theory": lines(rows, printed_limit=law, exact=drawn)}


def exact_and_limits(above=1.0):
    """Exact values of these networks beside the limits of Figure 5."""
    return {"theory": diagonal(above=above)["theory"], "limits": limits()}


def theorem31(factor=1.0, measured=1.0, ordered=1.0):
    """The same with exact values at doubled widths that tend to ``factor`` times the limit.

    Those of ordered networks tend to ``ordered``.
    """
    rows = []
    for phase, variance, share in (
        ("ordered", 1.0, ordered),
        ("critical", 2.0, factor),
        ("chaotic", 2.5, factor),
        ("chaotic", 4.0, factor),
    ):
        for x in (0.1, 0.5, 2.0):
            law = np.exp(log_limit(x, variance))
            for width in (640, 1280, 2560, 5120):
                rows.append((phase, variance, x, width, share * law * (1 - 1 / width), law))
    columns = ["phase", "sigma_w2", "x", "width", "exact", "printed"]
    return diagonal(measured) | {"doubled": pd.DataFrame(rows, columns=columns)}


def limits(above=1.5):
    """Limits of Figure 5: log r of the chaotic phase is ``above`` times that of the edge."""
    rows = []
    for form, (phase, alpha), x in product(
        ("printed", "corrected"),
        (("chaotic", 1.0), ("critical", 1.0), ("critical", 0.5)),
        (0.0, 0.5, 1.0),
    ):
        rows.append((form, phase, alpha, x, np.exp(x * (above if phase == "chaotic" else alpha))))
    return pd.DataFrame(rows, columns=["form", "phase", "alpha_0", "x", "y"])


def near(better="sums", rise=1.0, fall=1.0):
    """The groups of Figure 2; r = 1 + sigma_w2 times a bump that ``fall`` lets come down."""
    rows = grid("near", (200,), (0.5, 2.0), (1.6, 1.8, 2.0, 2.2))
    bump = 10 * rows["x"] * np.exp(-fall * 5 * rows["x"])
    exact = 1 + bump * rows["sigma_w2"] ** rise
    worse = {"sums": "printed_limit", "limit": "printed_sums"}[better]
    curves = {"printed_sums": exact, "printed_limit": exact, "exact": exact}
    curves[worse] = 1.3 * exact
    measured = rows.assign(sample="many", y=exact, spread=1e-4)
    return {"estimates": measured, "theory": lines(rows, **curves)}


def architectures(growing=0.5):
    """Shapes of network, log r proportional to depth, exact and as Theorem 3.2 has it."""
    slopes = {"growing": growing, "constant": 1.0, "shrinking": 2.0}
    rows = []
    for (name, slope), variance, depth, curve in product(
        slopes.items(), (1.0, 2.0), (20, 50, 100), ("exact", "printed_sums")
    ):
        rows.append((name, variance, depth, curve, np.exp(slope * depth / 100)))
    columns = ["architecture", "sigma_w2", "depth", "curve", "y"]
    return {"architectures": pd.DataFrame(rows, columns=columns)}


def ratios(low=0.3, rise=1.0, off=0.0, printed=None):
    """Off-diagonal over diagonal means from ``low`` to 1; equation 18 is ``off`` above them.

    ``rise`` is that of the ordered phase, and ``printed`` that of equation 18, the same for None.
    """
    rows = grid("ratio", (200, 400), (1.0,), (0.5, 1.0, 2.5))
    depths = pd.DataFrame({"depth": [3, 10, 30, 60, 100]})
    rows = rows.drop(columns=["depth", "x"]).drop_duplicates().merge(depths, how="cross")
    rows = rows.merge(pd.DataFrame({"cosine": [0.1, 0.9]}), how="cross")
    rows["x"] = rows["depth"] / rows["width"]
    printed_rise = rise if printed is None else printed
    ordered = rows["sigma_w2"] < 2
    values = np.where(ordered, 1 - 0.5 * (rows["depth"] / 3) ** (-0.9 * rise), low)
    by_equation = np.where(ordered, 1 - 0.5 * (rows["depth"] / 3) ** (-0.9 * printed_rise), low)
    measured = rows.assign(sample="many", y=values, spread=1e-4)
    theory = lines(rows, printed=by_equation - 0.001 + off, infinite_width=values)
    return {"estimates": measured, "theory": theory}


def off_diagonal(low=0.3, factor=1.05):
    """Ratios as `ratios`, with dispersions as `dispersions`."""
    both = ratios(low), dispersions(factor)
    return {name: pd.concat([part[name] for part in both]) for name in ("estimates", "theory")}


def dispersions(factor=1.05, angle=0.0):
    """Off-diagonal dispersion over the diagonal's, and its slope in the cosine."""
    both = [grid("phases", (100,), (1.0,), (1.0, 2.5)), grid("near", (200,), (0.5,), (1.8, 2.2))]
    rows = pd.concat(both, ignore_index=True)
    exact = np.exp(rows["x"])
    theory = lines(rows, exact=exact, printed_limit=exact, printed_sums=exact)
    pairs = rows.assign(y=factor * exact, sample="many", spread=1e-3)
    pairs = pairs.merge(pd.DataFrame({"cosine": [0.1, 0.9]}), how="cross")
    return {
        "estimates": pairs.assign(y=pairs["y"] * np.exp(angle * pairs["cosine"])),
        "theory": theory.assign(cosine=np.nan),
    }


def steps(ordered=-0.2, sign=1.0):
    """Relative changes of the kernel: exponential in the depth, to first order with a ``sign``."""
    places = pd.MultiIndex.from_product(
        [("chaotic", "ordered"), ("step", "step_of_weights", "derivative"), (4, 8, 16, 32)],
        names=["phase", "change", "depth"],
    )
    rows = places.to_frame(index=False)
    slopes = rows["phase"].map({"chaotic": 0.3, "ordered": ordered})
    sizes = np.exp(slopes * rows["depth"])
    sizes_and_signs = {
        "value": sizes,
        "error": 0.1 * sizes,
        "with_sign": sizes,
        "with_sign_error": 0.1 * sizes,
        "exact_with_sign": sign * sizes,
    }
    return {"steps": rows.assign(**sizes_and_signs)}


def moments(forward=1.0, limit=1.0):
    """Every moment as printed but E[N_x]; exact products tend to ``limit`` times the printed."""
    names = (
        "forward",
        "backward",
        "forward_square",
        "backward_square",
        "product",
        "chain_backward",
        "chain_backward_square",
        "chain_product",
    )
    rows = [(name, "tied", 1.3 * (forward if name == "forward" else 1), 1.3) for name in names]
    rows.append(("chain_product", "difference", 0.2, np.nan))
    found = pd.DataFrame(rows, columns=["quantity", "weights", "value", "printed"])
    widths = np.array([16, 32, 64, 128, 256, 512, 1024])
    printed = np.exp(widths / 1000)
    exact = printed * limit * (1 + 0.4 / widths)
    products = {"width": widths, "layers": widths // 4, "exact": exact, "printed": printed}
    return {
        "moments": found.assign(error=0.001, width=16, layers=4),
        "products": pd.DataFrame(products),
    }


def estimators(bias=0.0):
    """Means of both leave-one-out estimators over the truth."""
    names = ("leave_one_out", "printed_leave_one_out")
    rows = []
    for name, size, truth in product(names, (20, 500), (1.65, 4.48)):
        rows.append((name, size, truth, 1 + bias, 0.001))
    columns = ["estimator", "size", "truth", "value", "error"]
    return {"estimators": pd.DataFrame(rows, columns=columns)}


VARIANCES = (1.0, 2.0, 2.2)
STEPS = (0, 100, 500, 3000)
RUNS = 3


def blocks(start=0.05, early=0.8, rise=1.0, order=1.0, same=0.8):
    """Rows of beyond_training.

    Args:
        start: gap of classes at the start.
        early: share of its rise that is done at step 500.
        rise: of the gap and of the alignment, over the usual one.
        order: 1 if larger gaps go with smaller test losses, -1 if with larger ones.
        same: class mean over the diagonal at the start.
    """
    shares = dict(zip(STEPS, (0.0, early / 2, early, 1.0), strict=True))
    rows = []
    for place, variance in enumerate(VARIANCES):
        for seed in range(RUNS):
            for step in STEPS:
                noise = 1 + 0.01 * jitter(variance, seed, step)
                done = shares[step] * rise
                gap = (start + done * (0.6 - 0.2 * place)) * noise
                level = same * noise
                rows.append(
                    {
                        "sigma_w2": variance,
                        "seed": seed,
                        "step": step,
                        "diagonal": 100.0 * noise,
                        "same_class": 100 * level * noise,
                        "other_class": 100 * (level - gap) * noise,
                        "same_class_with_diagonal": 100 * (0.9 * level + 0.1) * noise,
                        "gap": gap,
                        "over_smaller_diagonal": level * noise,
                        "alignment": (0.35 + 0.2 * done) * noise,
                        "train_loss": np.exp(-8 * shares[step]) * noise,
                        "test_loss": (0.2 + 0.1 * order * (place - 1)) * noise,
                    }
                )
    return {"rows": pd.DataFrame(rows)}


ROWS = {
    "B01": (theorem31, partial(theorem31, factor=1.3)),
    "B02": (theorem31, partial(theorem31, factor=1.001)),
    "B03": (theorem31, partial(theorem31, ordered=1.01)),
    "B04": (exact_and_limits, partial(exact_and_limits, above=0.2)),
    "B07": (near, partial(near, better="limit")),
    "B08": (near, partial(near, rise=-1.0)),
    "B09": (near, partial(near, fall=0.0)),
    "B10": (architectures, partial(architectures, growing=1.5)),
    "B12": (off_diagonal, partial(off_diagonal, low=0.1)),
    "B13": (ratios, partial(ratios, rise=-0.1, printed=1.0)),
    "B14": (ratios, partial(ratios, off=0.05)),
    "B15": (dispersions, partial(dispersions, angle=0.5)),
    "B16": (steps, partial(steps, sign=-1.0)),
    "B18": (moments, partial(moments, limit=1.2)),
    "B22": (estimators, partial(estimators, bias=0.02)),
    "B19": (blocks, partial(blocks, start=0.3, same=1.2)),
    "B20": (blocks, partial(blocks, start=0.7, rise=-1.0)),
    "B21": (blocks, partial(blocks, order=-1.0)),
}

BOTH = ("shuffled", "constant")
INVARIANT = {
    "B12": (("constant",), "it bounds all values alike"),
    "B15": (("constant",), "that values are alike is what it says"),
    "B22": (BOTH, "it says the same of every law and both prefactors"),
}
