"""Made-up rows for the claims of collapse on the flow under a block kernel."""

from functools import partial

import pandas as pd
from tests.claims.synthetic import jitter

TIMES = (0.0, 12.5, 50.0, 200.0)
RUNS = range(3)
CASES = {
    "zero_invariant": ("E = 0, b = 1/C",),
    "free_biases": ("E = 0, b = 0",),
    "random_weights": ("random W, scale 0.1", "random W, scale 1"),
    "positive_invariant": ("E >= 0",),
}
PAIRS = [(other, beta) for other in (0.01, 0.04) for beta in (0.0, 0.05, 0.15, 0.3)]


def curves(power=0.5, limit=0.0, nc2=1e-6, random=1.0, drift=1e-12, nc4=1.0, bound=2.0):
    """Flows: NC3 and |H2| fall to ``limit`` with a power of time, from random W they stay.

    ``bound``: of |H2|, as a multiple of it.
    """
    rows = []
    for start, cases in CASES.items():
        for case in cases:
            for run in RUNS:
                for time in TIMES:
                    falling = limit + 0.4 * (1 + 0.01 * jitter(case, run)) * (0.1 + time) ** -power
                    stays = start == "random_weights"
                    level = random * (1 + 0.05 * abs(jitter(case, run))) if stays else falling
                    rows.append(
                        {
                            "start": start,
                            "case": case,
                            "run": run,
                            "time": time,
                            "nc1": level**2,
                            "nc2": 0.6 if stays else 100 * nc2 / (1 + time) + nc2 / 2,
                            "nc3": level,
                            "nc4": 0.7 if stays else nc4,
                            "h2": level,
                            "mean": 0.04 if start == "free_biases" else 1e-12,
                            "bias_gap": 0.005 if start == "free_biases" else 1e-6,
                            "alignment": 0.3 if stays else 1.0,
                            "drift": drift,
                            "bound": None if stays else bound * level,
                        }
                    )
    return pd.DataFrame(rows)


def uncentred(error=1e-7):
    """Ends of flows with a global mean; ``error`` is that of b - 1/C + W <h>, relative."""
    rows = []
    for name in ("E = 0", "random W, scale 0.1"):
        for run in RUNS:
            for time in TIMES[-2:]:
                rows.append(
                    {
                        "case": name,
                        "run": run,
                        "time": time,
                        "residual": 1e-6,
                        "gap": 0.1,
                        "error": error / 10,
                    }
                )
    return pd.DataFrame(rows)


def frozen(gamma=1.0, theta=1.0, nc3=0.2, nc2=1e-9):
    """Ends of flows whose gamma and theta are multiples of the formulas."""
    rows = []
    for other, beta in PAIRS:
        values = {
            "gamma": gamma * formula("gamma", "corrected", other, beta),
            "theta": theta * formula("theta", "printed", other, beta),
            "nc2": nc2,
            "nc3": nc3,
            "nc3_earlier": nc3,
            "h2": 1e-9,
            "drift": 1e-12,
        }
        for run in RUNS:
            for name, value in values.items():
                rows.append(
                    {
                        "case": case(other, beta),
                        "kappa_n": other,
                        "beta": beta,
                        "run": run,
                        "quantity": name,
                        "value": value,
                    }
                )
    return pd.DataFrame(rows)


def case(other, beta):
    return f"kappa_n = {other:g}, beta = {beta:g}"


def formula(quantity, form, other, beta):
    """Some number for each; not those of the paper."""
    sign = {"gamma": 1, "theta": -1}[quantity]
    return sign * (0.05 + other + abs(beta - 0.1)) * (1.3 if form == "printed" else 1.0)


def formulas():
    rows = []
    for other, beta in PAIRS:
        for quantity in ("gamma", "theta"):
            for form in ("printed", "corrected"):
                rows.append(
                    {
                        "case": case(other, beta),
                        "kappa_n": other,
                        "beta": beta,
                        "quantity": quantity,
                        "form": form,
                        "value": formula(quantity, form, other, beta),
                    }
                )
    return pd.DataFrame(rows)


def residuals(order=("global", "class", "single")):
    """Times at which components of residuals have fallen, in an order."""
    rows = []
    for kernel in ("0.2, 0.1, 0.01", "1, 0.5, 0.4"):
        for place, component in enumerate(order):
            for run in RUNS:
                rows.append(
                    {
                        "kernel": kernel,
                        "component": component,
                        "run": run,
                        "eigenvalue": 1.0,
                        "reached": 4.0**place * (1 + 0.01 * jitter(kernel, run)),
                        "predicted": 1.0,
                    }
                )
    return pd.DataFrame(rows)


def orders(power=4):
    """Drift of Runge-Kutta at several steps."""
    rows = [{"method": "DOP853", "step": None, "distance": 0.0, "drift": 1e-13}]
    rows += [
        {"method": "RK4", "step": 0.001 * times, "distance": 1e-9, "drift": 1e-9 * times**power}
        for times in (1, 2, 4)
    ]
    return pd.DataFrame(rows)


def conserved(drift=1e-12, power=4):
    return {"curves": curves(drift=drift), "frozen": frozen(), "orders": orders(power)}


def angles(**changed):
    return {"frozen": frozen(**changed), "formulas": formulas()}


ROWS = {
    "K02": (
        lambda: {"residuals": residuals()},
        lambda: {"residuals": residuals(("single", "class", "global"))},
    ),
    "K03": (conserved, partial(conserved, drift=1e-3, power=1)),
    "K04": (
        lambda: {"curves": curves()},
        lambda: {"curves": curves(power=0.1, limit=0.3, nc2=0.1, nc4=0.5, bound=0.9)},
    ),
    "K05": (lambda: {"curves": curves()}, lambda: {"curves": curves(random=0.0)}),
    "K06": (
        lambda: {"curves": curves(), "uncentred": uncentred()},
        lambda: {"curves": curves(), "uncentred": uncentred(error=0.5)},
    ),
    "K07": (angles, partial(angles, gamma=1.1, nc2=0.1, nc3=0.0)),
    "K08": (angles, partial(angles, theta=0.5)),
}
INVARIANT = {
    "K06": (("shuffled", "constant"), "it compares the biases of a flow with its own global mean"),
}
