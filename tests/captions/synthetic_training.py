"""Small tables of kernels during training in which blocks of classes form (``effect``), or not."""

import pandas as pd

VARIANCES = (1.0, 2.0, 2.2)
STEPS = (0, 10, 20, 60)


def gap(effect, variance, step):
    """Distance of the class mean from that of other classes; with the effect it rises early."""
    rise = (3 - variance) / 3 * (step / 60) ** 0.25
    return 0.02 + (rise if effect else -rise / 200)


def kernels(effect):
    """Four images of two classes."""
    rows = [
        {
            "sigma_w2": variance, "step": step, "row": i, "column": j, "class_row": i // 2,
            "class_column": j // 2,
            "share": 1.0 if i == j else 0.4 + (i // 2 == j // 2) * gap(effect, variance, step),
        }
        for variance in VARIANCES for step in STEPS for i in range(4) for j in range(i, 4)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def training(effect):
    """Curves and kernels; only with the effect a larger gap goes with a smaller test loss."""
    curves = []
    for variance in VARIANCES:
        for step in STEPS:
            same = 0.4 + gap(effect, variance, step)
            values = {
                "test_loss": variance / (1 + step),
                "train_loss": 1 / (1 + step), "same_class": same,
                "same_class_with_diagonal": 0.9 * same + 0.1, "other_class": 0.4,
            }  # fmt: skip
            for quantity, y in values.items():
                spread = 0.1 if quantity in ("same_class", "other_class") else float("nan")
                curves.append({"sigma_w2": variance, "step": step, "quantity": quantity, "y": y,
                               "low": 0.9 * y, "high": 1.1 * y, "spread": spread,
                               "runs": 3})  # fmt: skip
    return {"curves": pd.DataFrame(curves), "kernels": kernels(effect)}


TABLES = {
    "beyond_fig4": training,
    "thesis_fig2_5": lambda effect: {"kernels": kernels(effect)},
}
