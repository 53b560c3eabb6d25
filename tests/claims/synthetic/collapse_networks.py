"""Made-up rows for the claims of collapse on trained networks."""

from functools import cache, partial

import numpy as np
import pandas as pd
from tests.claims.synthetic import jitter

PAIRS = [
    f"{net}_{data}"
    for net in ("vgg", "resnet", "densenet")
    for data in ("mnist", "fashion", "cifar")
]
ENTROPY = "resnet_mnist_ce"
INITS = ("lecun", "torch", "he")
RATES = tuple(float(f"{rate:.3g}") for rate in np.geomspace(0.01, 1, 8))
# the first rate does not train, the second is accurate and far from collapse
UNTRAINED = 0
FAR = 1
CLOSE = len(RATES) - 1
PICKED = {FAR: "other", CLOSE: "collapsed"}


def networks(pair, late=0.3, far=0.6, apart=1.0):
    """Networks at the end: the larger the rate, the smaller NC3.

    NC3 is ``late`` at the third rate and falls by a factor of ten from there on; it is ``far`` in
    the network far from collapse. ``apart`` is -1 if invariant and kernels are worse close to it.
    """
    rows = []
    for init in INITS:
        for place, rate in enumerate(RATES):
            noise = 1 + 0.02 * jitter(pair, init, place)
            fallen = late * 10 ** (-(place - 2) / (CLOSE - 2)) * 0.95
            nc3 = noise * {UNTRAINED: 1.2, FAR: far}.get(place, fallen)
            near = apart * (1 - nc3)
            rows.append(
                {
                    "pair": pair,
                    "init": init,
                    "rate": rate,
                    "picked": PICKED.get(place, np.nan),
                    "nc1": 0.4 * nc3,
                    "nc1_ratio": 0.1 * nc3**2,
                    "nc2": 0.1 + 0.5 * nc3,
                    "nc3": nc3,
                    "test_accuracy": {UNTRAINED: 0.9, FAR: 0.975}.get(place, 0.99),
                    "train_accuracy": 0.9 if place == UNTRAINED else 0.9995,
                    "e_norm": 8 - 4 * near,
                    "e_relative": 1 - 0.05 * near,
                    "invariant_alignment": 0.5 + 0.4 * near,
                }
            )
    return pd.DataFrame(rows)


def entropy(closer=0.7, norm=10.0, apart=1.0):
    """The same networks with cross-entropy: NC metrics and |E| are multiples of the others."""
    rows = networks(ENTROPY, apart=apart)
    factors = {"nc1": closer, "nc1_ratio": closer, "nc2": closer, "nc3": closer, "e_norm": norm}
    return rows.assign(**{name: rows[name] * factor for name, factor in factors.items()})


def picked_of(pair):
    """Initialisation, model and a number of its own for each model of the figures."""
    return [(init, model, jitter(pair, init, model)) for init in INITS for model in PICKED.values()]


def ends(pair, apart=1.0, level=0.9, mean=0.02, within=0.02):
    """Alignments of both kernels, and norms of the terms of the features.

    Close to collapse the alignment is ``level``, far from it lower by 0.2 ``apart``. Over H1 H1^T,
    <h> <h>^T is ``mean``, and H2 H2^T is ``within`` close to collapse, ten times that far from it.
    """
    rows = []
    for init, model, noise in picked_of(pair):
        far = model == "other"
        aligned = level - 0.2 * apart * far + 0.01 * noise
        found = {
            "alignment_theta": aligned,
            "alignment_theta_h": aligned + 0.02,
            "h1": 40.0,
            "hbar": 40 * mean * (1 + 0.1 * noise),
            "h2": 40 * within * (10 if far else 1) * (1 + 0.1 * noise),
        }
        rows += [
            {"pair": pair, "init": init, "model": model, "quantity": quantity, "value": value}
            for quantity, value in found.items()
        ]
    return pd.DataFrame(rows)


def blocks(pair, ratio=5.0, norms=0.2):
    """Means of blocks and norms of the network of the heat maps, both kernels alike."""
    spread = 1 + 0.1 * jitter(pair)
    return pd.DataFrame(
        [
            {
                "pair": pair,
                "kernel": kernel,
                "init": "lecun",
                "rate": RATES[CLOSE],
                "diagonal": 3.0,
                "same_class": ratio * spread,
                "other_class": 1.0,
                "norm_ratio": norms * spread,
                "norm_over_smaller": norms * spread,
            }
            for kernel in ("theta", "theta_h")
        ]
    )


@cache
def _made(make, pair, changed):
    return make(pair, **dict(changed))


def of_all(make, **changed):
    """A table for each pair."""
    name = {"networks": "rates"}.get(make.__name__, make.__name__)
    return {f"{name}_{pair}": _made(make, pair, tuple(changed.items())) for pair in PAIRS}


def accurate(**changed):
    return of_all(networks, **changed)


def invariant(apart=1.0):
    with_entropy = {f"rates_{ENTROPY}": entropy(apart=apart)}
    return of_all(networks, apart=apart) | with_entropy


def kernels(**changed):
    return of_all(networks) | of_all(ends, **changed)


def maps(**changed):
    return of_all(blocks, **changed) | of_all(networks)


def losses(**changed):
    pair = "resnet_mnist"
    return {f"rates_{ENTROPY}": entropy(**changed), f"rates_{pair}": networks(pair)}


ROWS = {
    "K09": (accurate, partial(accurate, late=3.0)),
    "K10": (invariant, partial(invariant, apart=-1.0)),
    "K11": (kernels, partial(kernels, apart=-1.0, level=0.2)),
    "K12": (maps, partial(maps, ratio=0.5)),
    "K13": (maps, partial(maps, norms=2.0)),
    "K14": (kernels, partial(kernels, mean=0.09, within=0.5)),
    "K15": (losses, partial(losses, closer=3.0, norm=0.1)),
}

BOTH = ("shuffled", "constant")
INVARIANT = {
    "K09": (("shuffled",), "it counts networks of a pair, whatever their rates"),
    "K10": (("shuffled",), "it compares the alignment of a network with its own NC3"),
    "K12": (BOTH, "it says the same of both kernels, and a pair has one network"),
    "K13": (BOTH, "it says the same of both kernels, and a pair has one network"),
}
