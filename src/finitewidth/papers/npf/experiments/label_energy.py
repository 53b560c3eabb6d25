"""The distribution of the labels over the eigenvectors of the path kernel while gates are learnt.

Source: npf section 6.2 (5).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from torch import Tensor

from finitewidth.kernels.npk import SingularKernelError
from finitewidth.measures.accuracy import averaged
from finitewidth.measures.kernels import label_energy

TOP = (1, 2, 5, 10, 20, 50)  # numbers of eigenvectors whose energy is shown over epochs
CHANCE = "by chance"


def split(y: Tensor, kernel: Callable[[], Tensor]) -> np.ndarray:
    """Share of |y|^2 in the first k eigenvectors and their part of nu, for k = 1 .. S.

    Args:
        y: labels (S,).
        kernel: returns Ĥ, (S, S); it may raise `SingularKernelError`.

    Returns:
        (2, S). All entries are NaN for a dead network. The second row is NaN from the first
        eigenvalue that is 0 to the precision of float64.
    """
    try:
        values, energy = label_energy(y.numpy(), kernel().numpy())
    except SingularKernelError:
        return np.full((2, len(y)), np.nan)
    positive = values > len(y) * np.finfo(float).eps * values[0]
    parts = float(y @ y) * energy / np.where(positive, values, np.nan)
    return np.stack([energy.cumsum(), parts.cumsum()])


def curves(splits: Mapping[int, np.ndarray]) -> pd.DataFrame:
    """Means over runs.

    Args:
        splits: epoch -> (R, 2, S) of `split`, epochs ascending.

    Returns:
        panel, series, x, y, spread, runs, failed. Panels ``energy`` and ``nu`` have a series for
        the first and for the last epoch, and x is the number of eigenvectors; ``energy`` has one
        more series for labels without a preferred direction. Panel ``top`` shows the energy, with a
        series for each number of eigenvectors, and x is the epoch.
    """
    return pd.DataFrame([*_by_rank(splits), *_by_epoch(splits)])


def _by_rank(splits: Mapping[int, np.ndarray]) -> Iterator[dict[str, Any]]:
    for place, panel in enumerate(("energy", "nu")):
        for epoch in dict.fromkeys((min(splits), max(splits))):
            for rank, values in enumerate(splits[epoch][:, place].T, start=1):
                yield {"panel": panel, "series": f"epoch {epoch}", "x": rank,
                       **averaged(pd.Series(values))}  # fmt: skip
    size = splits[min(splits)].shape[-1]
    for rank in range(1, size + 1):
        yield {"panel": "energy", "series": CHANCE, "x": rank, "y": rank / size}


def _by_epoch(splits: Mapping[int, np.ndarray]) -> Iterator[dict[str, Any]]:
    size = splits[min(splits)].shape[-1]
    for top in (top for top in TOP if top < size):
        for epoch, parts in splits.items():
            yield {"panel": "top", "series": f"first {top}", "x": epoch,
                   **averaged(pd.Series(parts[:, 0, top - 1]))}  # fmt: skip
