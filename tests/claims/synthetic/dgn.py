"""Made-up rows for the claims of dgn."""

import pandas as pd
from tests.claims.synthetic import dgn_training, jitter
from tests.claims.synthetic.memorisation import DEPTHS, errors_of

LINEAR_DEPTHS = (2, 4, 6, 8, 10)


def variances(power):
    """Var = d^power / w (1 - 1 / d), exactly, and w Var for large widths."""
    rows = [
        {"entry": entry, "form": "exact" if width else "leading", "width": width, "depth": depth,
         "per_d2": depth ** (power - 2) * (1 - 1 / depth)}
        for entry in ("open", "half") for width in (0, 512, 1024) for depth in (16, 32, 64)
    ]  # fmt: skip
    return {"variance": pd.DataFrame(rows)}


def fits(lowest):
    rows = [
        {"hidden": hidden, "width": 16, "biases": biases, "run": run, "floor": 1.8,
         "lowest": 1e-9 if biases else lowest + 0.1 * run}
        for hidden in (1, 2) for biases in (0, 1) for run in range(3)
    ]  # fmt: skip
    return {"fits": pd.DataFrame(rows)}


def kernels(overlap=0.5, far=1.0, near=0.1, runs=20):
    """Kernels at the start of both widths; 1/2 is the ``overlap`` that is expected."""
    rows = [
        {"width": width, "depth": depth, "run": run,
         "diagonal": 1 + 0.02 * _scatter(run, runs),
         "off_diagonal": overlap ** (depth - 1) + 0.002 * _scatter(run, runs),
         "distance": (far if width == 25 else near) + 0.01 * _scatter(run, runs)}
        for width in (25, 500) for depth in DEPTHS for run in range(runs)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def entries(**changes):
    ideal = [{"width": 500, "depth": depth, "diagonal_ideal": 1.0,
              "off_diagonal_ideal": 0.5 ** (depth - 1)} for depth in DEPTHS]  # fmt: skip
    return {"kernels": kernels(**changes), "entries": pd.DataFrame(ideal)}


def planar(slope=-0.1, advantage=-0.3, runs=5):
    """GaLU falls by ``slope`` decades per depth, and is ``advantage`` decades below ReLU."""
    errors, spectra = [], []
    for network in ("galu", "relu"):
        for place, depth in enumerate(DEPTHS):
            for run in range(runs):
                level = slope * place + (advantage if network == "galu" else 0)
                level += 0.01 * jitter(network, depth, run)
                here = {"network": network, "depth": depth, "run": run}
                errors += [here | {"dynamics": "gradient descent", "time": time,
                                   "ratio": 10**level} for time in (1000, 10000)]  # fmt: skip
                spectra.append(here | {"trace_over_rho_max": 5 - 10 * level})
    return {"errors": pd.DataFrame(errors), "kernels": pd.DataFrame(spectra)}


def linear(first=0.81, steps=15.0, growth=2.0, slower=0.0, runs=50):
    """Deep linear networks; ``slower``: more steps per layer."""
    rows = [
        {"depth": depth, "run": run, "kernel": depth * (1 + 0.02 * _scatter(run, runs)),
         "first_ratio": first - 0.003 * _scatter(run, runs),
         "steps_to_hundredth": steps + slower * depth + 0.1 * _scatter(run, runs),
         "kernel_growth": growth + 0.02 * _scatter(run, runs)}
        for depth in LINEAR_DEPTHS for run in range(runs)
    ]  # fmt: skip
    return {"runs": pd.DataFrame(rows)}


def circular(change=0.0):
    """Two inputs, one layer with both taps: 4 paths, 2 strengths, two paths each."""
    connections = pd.DataFrame({"layer": 1, "start": [1, 2, 1, 2], "end": [1, 2, 2, 1],
                                "tap": [1, 1, 2, 2]})  # fmt: skip
    paths = pd.DataFrame({"path": [1, 2, 3, 4], "bundle": [1, 1, 2, 2]})
    rows = [
        {"gating": 0, "s": s, "s_prime": other, "shift": shift, "pooled": value, "lemma": value}
        for s in (1, 2) for other in (1, 2) for shift in (0, 1)
        for value in (2.0 + s * other + change * shift,)
    ]  # fmt: skip
    kernel = pd.DataFrame(rows)
    return {"connections": connections, "paths": paths, "kernel": kernel}


def _scatter(run, runs):
    return run - (runs - 1) / 2 if runs < 10 else (run % 5) - 2


ROWS = dgn_training.ROWS | {
    "D02": (lambda: variances(2), lambda: variances(3)),
    "D04": (entries, lambda: entries(overlap=1.2)),
    "D05": (
        lambda: {"kernels": kernels()}, lambda: {"kernels": kernels(far=0.1, near=1.0)},
    ),
    "D06": (
        lambda: errors_of({w: {d: -0.1 * d for d in DEPTHS} for w in (25, 500)}),
        lambda: errors_of({w: {d: -abs(d - 8.1) for d in DEPTHS} for w in (25, 500)}),
    ),
    "D07": (planar, lambda: planar(slope=0.1)),
    "D08": (planar, lambda: planar(advantage=0.3)),
    "D09": (lambda: fits(1.8), lambda: fits(1.7)),
    "D11": (linear, lambda: linear(first=0.9)),
    "D12": (linear, lambda: linear(steps=30.0, growth=0.5)),
    "D13": (linear, lambda: linear(slower=5.0)),
    "D25": (circular, lambda: circular(change=0.1)),
}  # fmt: skip

BOTH = ("shuffled", "constant")
INVARIANT = {
    "D02": (BOTH, "it says that a quantity does not depend on the depth"),
    "D12": (BOTH, "it says the same of every depth"),
    "D13": (BOTH, "that depths are alike is what it says"),
    "D16": (BOTH, "it says the same of all six cases"),
    "D25": (("constant",), "that shifts change nothing is what it says"),
}
