"""Small tables of kernels during training that show an effect, or not.

With the effect blocks of classes form (beyond), and networks change by phase (trust).
"""

from itertools import product

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
                "train_loss": (0.1 if effect else 1) / (1 + step), "same_class": same,
                "same_class_with_diagonal": 0.9 * same + 0.1, "other_class": 0.4,
            }  # fmt: skip
            for quantity, y in values.items():
                spread = 0.1 if quantity in ("same_class", "other_class") else float("nan")
                curves.append({"sigma_w2": variance, "step": step, "quantity": quantity, "y": y,
                               "low": 0.9 * y, "high": 1.1 * y, "spread": spread,
                               "runs": 3})  # fmt: skip
    return {"curves": pd.DataFrame(curves), "kernels": kernels(effect)}


def descents(effect, biases=(1.0, 0.0)):
    """Trained networks of trust; effect: they change by phase, early, and less if they are wide."""
    changes, networks = [], []
    maps = [("shown", bias, 48) for bias in biases] + [("width", 1.0, 24), ("width", 1.0, 96)]
    for (name, bias, width), share, depth, seed in product(
        maps, (0.5, 1.0, 1.5), (2, 5, 10, 15), range(3)
    ):
        phase = 0 if share < 1 else 1 if share == 1 else 2
        change = (0.05, 0.3, 0.05 * depth)[phase] * (48 / width) ** 0.5 if effect else 0.1
        steep, lost = (effect and phase == 2 and depth == 2, effect and width == 24 and depth == 2)
        key = ("relu", name, bias, 2 * share, depth, width, seed)
        method = "graded" if effect and phase == 0 else "steps"
        loss = (1.0, 0.9, 0.7)[phase] if effect else 0.5
        met = 500 if effect and phase == 0 else -1
        taken = 500 if met > 0 else 1000
        ends = (taken, method, loss, 0.5, met, met, 3.0 if steep else 0.1)
        networks.append((*key, *ends, int(lost and seed == 0 and phase == 2)))
        for time in (10, 1000):
            early = (0.001, 0.1, 0.5)[phase] if effect and time == 10 else 1.0
            changes.append((*key, time, change * early * (1 + 0.1 * seed * effect)))
    key = "activation map sigma_b2 sigma_w2 depth width seed "
    ends = "steps_taken method lowest_loss constant_loss stop_window stop_each eta_lambda diverged"
    borders = [{"activation": "relu", "sigma_b2": bias, "sigma_w2": 2.0} for bias in biases]
    return {
        "changes": pd.DataFrame(changes, columns=(key + "time change").split()),
        "networks": pd.DataFrame(networks, columns=(key + ends).split()),
        "borders": pd.DataFrame(borders),
    }


def control(effect):
    """The same networks at two rates; effect: at their own rate ordered networks train best."""
    tables = {}
    for activation, rule in product(("tanh", "relu"), ("common", "scaled")):
        own = descents(effect, biases=(1.0,))
        networks = own["networks"].assign(rate=1e-5 if rule == "common" else 0.01)
        if rule == "scaled":
            networks = networks[networks["map"] == "shown"].assign(eta_lambda=1.0)
            networks["lowest_loss"] *= networks["sigma_w2"] / 3 if effect else 1
            own["changes"] = own["changes"].query("map == 'shown'")
        for name, table in (own | {"networks": networks}).items():
            tables[f"{activation}_{rule}_{name}"] = table.assign(activation=activation)
    return tables


TABLES = {
    "trust_extra_scaled": control,
    **{f"trust_fig{number}": descents for number in (3, 4, 8, 9, 10, 11)},
    "beyond_fig4": training,
    "thesis_fig2_5": lambda effect: {"kernels": kernels(effect)},
}
