"""Made-up tables of networks of trust that are trained, with an effect of the phase or without."""

from itertools import product

import pandas as pd


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
