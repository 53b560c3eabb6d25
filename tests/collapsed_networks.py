"""Made-up tables of trained networks that collapse (``effect``), or do not.

With the effect NC3 falls with ``tau``, the rate times the weight decay summed over training, and
kernels have blocks of classes. Without it, the one model that is found for each initialisation
does not collapse, NC3 has nothing to do with ``tau``, and kernels have no blocks.
"""

from itertools import product

import numpy as np
import pandas as pd

INITS = ("lecun", "torch", "he")
NAN = float("nan")


def collapsed(tau, init="lecun"):
    """NC3 at ``tau``, near what small networks on the bundled digits show."""
    late = {"lecun": 0.0, "torch": -0.02, "he": 0.35 * (tau > 4)}[init]
    return late + 0.06 + 1.05 / (1 + (tau / (1.3 if init != "torch" else 0.9)) ** 1.2)


def metrics(effect, tau, init, seed):
    """What is measured of a network at the end of its training."""
    noise = np.random.default_rng([seed, INITS.index(init)]).normal(0, 0.02, 8)
    nc3 = max(collapsed(tau, init) + noise[0], 0.05) if effect else 0.7 + noise[0]
    accuracy = 0.992 - 0.04 / (1 + (tau / 0.5) ** 2) + noise[1] / 10
    relative = (1 if effect else 0.4) + noise[2]
    alignment = 0.95 - 0.6 * nc3 + noise[3] / 2
    return {
        "nc1": 0.35 * nc3**1.2 * np.exp(3 * noise[4]), "nc1_ratio": 0.12 * nc3**2.2,
        "nc2": 0.12 + 0.55 * nc3**2 + noise[5], "nc3": nc3,
        "test_accuracy": float(np.clip(accuracy, 0, 0.997)),
        "train_accuracy": 1.0 if tau > 1 else 0.94, "e_norm": 6 * relative, "e_relative": relative,
        "invariant_alignment": alignment, "residual": (1 - alignment**2) ** 0.5,
        "alignment_theta": 0.97 - 0.35 * nc3 if effect else 0.5,
        "alignment_theta_h": 0.98 - 0.3 * nc3 + noise[6] / 2,
        "dead": 13 if init == "he" and tau > 10 else 0,
    }  # fmt: skip


def rates_of(count):
    """Initial rates, log-spaced."""
    return np.geomspace(0.003, 1.0, count)


def models(effect, pair="resnet_mnist", count=6, epochs=(2, 10, 20, 30, 40), missing=("he",)):
    """Tables of ``collapse_models_<pair>`` for panes a to j.

    Args:
        effect: see above; with it ``missing`` initialisations have no model without collapse.
        pair: network and data.
        count: number of rates.
        epochs: at which curves have points.
        missing: initialisations.
    """
    tables = {name: [] for name in ("rates", "picks", "curves", "ends", "lines")}
    picked = {"collapsed": count - 1, "other": count // 2}
    for init in INITS:
        for index, rate in enumerate(rates_of(count)):
            tau = 16 * rate
            names = [model for model, place in picked.items() if place == index]
            lost = names == ["other"] and effect and init in missing
            lost |= names == ["collapsed"] and not effect
            key = {"pair": pair, "init": init, "rate_index": index, "rate": rate, "tau": tau}
            found = metrics(effect, tau, init, index)
            own = names[0] if names and not lost else ""
            columns = ("nc1", "nc1_ratio", "nc2", "nc3", "test_accuracy", "train_accuracy",
                       "e_norm", "invariant_alignment", "alignment_theta_h", "dead")  # fmt: skip
            tables["rates"].append(
                key
                | {name: found[name] for name in columns}
                | {"picked": own, "network": "ResNet8", "pixels": 8}
            )
            if names:
                _pick(tables, key | {"model": names[0]}, found, epochs, lost)
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


def _pick(tables, key, found, epochs, lost):
    """Rows of a picked model, or those that say that none was found."""
    shown = ("test_accuracy", "train_accuracy", "nc1_ratio", "nc2", "nc3", "alignment_theta_h")
    place = {name: key[name] for name in ("pair", "init", "model")}
    about = place | {"found": int(not lost), "tried": 3}
    if lost:
        empty = dict.fromkeys(("rate_index", "rate", "replica", *shown), NAN)
        tables["picks"].append(about | {"step": "none"} | empty)
        return
    chosen = {"rate_index": key["rate_index"], "rate": key["rate"], "replica": 0}
    step = "within 1 point of the best" if key["model"] == "collapsed" else "within 3 points"
    tables["picks"].append(about | {"step": step} | chosen | {name: found[name] for name in shown})
    tables["curves"] += _curves(place | {"rate": key["rate"]}, found, epochs)
    first = epochs[len(epochs) // 5] if key["model"] == "collapsed" else epochs[len(epochs) // 3]
    tables["lines"].append(place | {"epoch": first, "threshold": 0.999})
    good = key["model"] == "collapsed"
    ends = {
        "h1": 40.0, "h2": 0.4 if good else 4.0, "hbar": 1.6 if good else 3.5,
        "alignment_theta": found["alignment_theta"], "nc4": 1.0, "alpha_c": 0.2,
        "alignment_theta_h": found["alignment_theta_h"], "bias_gap": 0.01,
        "kappa_ratio": 40.0 if good else 4.0, "gamma_ratio": 12.0 if good else 3.0,
    }  # fmt: skip
    shift = 1 + 0.2 * INITS.index(key["init"])
    for quantity, value in ends.items():
        scaled = value * shift if quantity in ("h1", "h2", "hbar") else value
        tables["ends"].append(place | {"quantity": quantity, "value": scaled})


def _curves(key, found, epochs):
    """Curves from chance to the values at the end, with noise where there are many points."""
    starts = {"e_norm": 25.0, "e_relative": 1.4, "invariant_alignment": 0.1, "residual": 0.995,
              "nc1": 0.5, "nc1_ratio": 3.0, "nc2": 1.0, "nc3": 1.3, "alignment_theta": 0.3,
              "alignment_theta_h": 0.35}  # fmt: skip
    rows, many = [], len(epochs) >= 15
    for place, (quantity, start) in enumerate(starts.items()):
        stream = np.random.default_rng([place, INITS.index(key["init"])])
        for epoch in epochs:
            left = np.exp(-6 * epoch / max(epochs))
            end = found[quantity]
            logs = quantity in ("nc1", "nc1_ratio", "e_norm")
            value = end ** (1 - left) * start**left if logs else end + (start - end) * left
            raw = value * (1 + stream.normal(0, 0.06 if many and epoch != max(epochs) else 0))
            rows.append(key | {"epoch": epoch, "quantity": quantity,
                               "value": raw, "smooth": value if many else raw})  # fmt: skip
    return rows


def blocks(effect, pair="resnet_mnist", per_class=2, classes=10, features=6, epochs=(2, 20, 40)):
    """Tables of the network of the heat maps; with the effect same-class entries are larger."""
    streams = np.random.default_rng(3)
    size, same = per_class * classes, {"theta": 0.35, "theta_h": 0.55}
    tables = {name: [] for name in ("traced", "norms", "blocks", "alignments")}
    for kernel, level in same.items():
        label = np.arange(size) // per_class
        alike = label[:, None] == label[None, :]
        other = level / 12 if effect else level
        value = np.where(alike, level, other) * np.exp(streams.normal(0, 0.15, (size, size)))
        value = (value + value.T) / 2
        value[np.diag_indices(size)] = streams.uniform(0.6, 1, size)
        tables["traced"] += _map(kernel, 5e3 * value, label)
        outputs = classes if kernel == "theta" else features
        scale = streams.permutation(np.linspace(0.3 if kernel == "theta_h" else 0.8, 1, outputs))
        norms = np.sqrt(np.outer(scale, scale)) * streams.uniform(0.02, 0.3, (outputs, outputs))
        norms = (norms + norms.T) / 2 if effect else np.ones((outputs, outputs))
        norms[np.diag_indices(outputs)] = scale if effect else 1.0
        tables["norms"] += _map(kernel, 700 * norms)
        for epoch in epochs:
            gain = 0.55 * (1 - np.exp(-6 * epoch / max(epochs))) if effect else -epoch / 500
            key = {"pair": pair, "kernel": kernel, "epoch": epoch}
            aligned = 0.35 + gain + 0.05 * (kernel == "theta_h")
            tables["alignments"].append(key | {"value": aligned})
        tables["blocks"].append({
            "pair": pair, "kernel": kernel, "init": "lecun", "rate": 0.35, "epoch": max(epochs),
            "per_class": per_class, "choice": "collapsed", "diagonal": 1.0, "same_class": level,
            "other_class": other, "ratio": level / other, "norm_ratio": 0.18 if effect else 1.0,
            "network": "ResNet8", "pixels": 8,
        })  # fmt: skip
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


def _map(kernel, values, label=None):
    """Rows from the diagonal on of a symmetric matrix."""
    rows, columns = np.triu_indices(len(values))
    found = {"kernel": kernel, "row": rows, "column": columns, "value": values[rows, columns],
             "share": values[rows, columns] / np.quantile(values, 0.995)}  # fmt: skip
    if label is not None:
        found |= {"class_row": label[rows], "class_column": label[columns]}
    return pd.DataFrame(found).to_dict("records")


def decay():
    """Tables of ``collapse_decay``, of networks whose NC3 is a power of tau."""
    sizes = {"vgg": (0.001, 0.004, 0.016), "resnet": (0.005, 0.08), "patches": (0.001, 0.02),
             "fully_connected": (0.0001, 0.0016)}  # fmt: skip
    rows = []
    for (sweep, decays), seed in product(sizes.items(), range(3)):
        noise = np.random.default_rng([len(sweep), seed]).normal(0, 0.02, 99)
        cases = [*product(decays, (0.6, 1.8, 5.4)), *[(0.0, 0.0)] * (sweep == "vgg")]
        for (strength, tau), shift in zip(cases, noise, strict=False):
            rates = tau / strength if strength else 300.0
            nc3 = 0.6 * tau**-0.6 * np.exp(shift) if tau else 0.97
            rows.append({
                "sweep": sweep, "data": "cifar10" if sweep == "patches" else "mnist",
                "network": sweep, "normalised": int(sweep != "fully_connected"), "seed": seed,
                "decay": strength, "rate": rates / 1000, "rates": rates, "tau": tau, "nc3": nc3,
                "overlap": np.exp(-tau) + 0.05 * (tau > 0),
                "imbalance": np.exp(-2 * tau) if sweep == "fully_connected" else NAN,
                "train_accuracy": 0.99,
            })  # fmt: skip
    return pd.DataFrame(rows)
