"""Made-up rows for the claims of npf."""

import pandas as pd

REGIMES = ("frnpf_ii", "frnpf_di", "dlnpf", "flnpf", "relu")
ROWS_OF_TABLE2 = ("fc_sgd", "fc_adam", "vconv_sgd", "vconv_adam", "gconv_sgd", "gconv_adam")


def table2_runs(runs=5, **accuracies):
    """Runs of Table 2, every regime's mean the same in all rows; fractions, spread .001."""
    means = {"frnpf_ii": 0.67, "frnpf_di": 0.67, "dlnpf": 0.771, "flnpf": 0.797, "relu": 0.803}
    rows = [
        {
            "row": row, "regime": regime, "seed": seed, "step_size": 0.1,
            "best_test": (means | accuracies)[regime] + 0.001 * (seed - (runs - 1) / 2),
            "diverged": 0, "chosen": 1,
        }
        for row in ROWS_OF_TABLE2 for regime in REGIMES for seed in range(runs)
    ]  # fmt: skip
    return {"runs": pd.DataFrame(rows)}


ROWS = {
    "N14": (table2_runs, lambda: table2_runs(frnpf_di=0.70)),
}
