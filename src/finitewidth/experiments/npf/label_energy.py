"""Where in the spectrum of the path kernel the labels lie, as gates are learnt (npf 6.2 (5))."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from torch import Tensor

from finitewidth.kernels.npk import SingularKernelError
from finitewidth.measures.accuracy import averaged
from finitewidth.measures.kernels import label_energy

TOP = (1, 2, 5, 10, 20, 50)  # eigenvectors whose energy is followed over training
CHANCE = "by chance"


def cumulative_energy(y: Tensor, kernel: Callable[[], Tensor]) -> np.ndarray:
    """Share of |y|^2 in the first k eigenvectors for k = 1 .. S; NaN for a dead network.

    Args:
        y: labels (S,).
        kernel: gives (S, S); it may raise `SingularKernelError`.
    """
    try:
        return label_energy(y.numpy(), kernel().numpy()).cumsum()
    except SingularKernelError:
        return np.full(len(y), np.nan)


def curves(energies: Mapping[int, np.ndarray], ddof: int) -> pd.DataFrame:
    """Means over runs.

    Args:
        energies: epoch -> (R, S) of `cumulative_energy`, epochs ascending.
        ddof: of the spread.

    Returns:
        rows (panel, series, x, y, spread, runs, failed). Panel ``rank``: a series for the first and
        the last epoch, and one for labels of no preferred direction; x is the number of
        eigenvectors. Panel ``top``: a series for each number of eigenvectors; x is the epoch.
    """
    return pd.DataFrame([*_by_rank(energies, ddof), *_by_epoch(energies, ddof)])


def _by_rank(energies: Mapping[int, np.ndarray], ddof: int) -> Iterator[dict[str, Any]]:
    first, last = min(energies), max(energies)
    size = energies[first].shape[1]
    for epoch in dict.fromkeys((first, last)):
        for rank, values in enumerate(energies[epoch].T, start=1):
            yield {"panel": "rank", "series": f"epoch {epoch}", "x": rank,
                   **averaged(pd.Series(values), ddof)}  # fmt: skip
    for rank in range(1, size + 1):
        yield {"panel": "rank", "series": CHANCE, "x": rank, "y": rank / size}


def _by_epoch(energies: Mapping[int, np.ndarray], ddof: int) -> Iterator[dict[str, Any]]:
    size = next(iter(energies.values())).shape[1]
    for top in (top for top in TOP if top < size):
        for epoch, shares in energies.items():
            yield {"panel": "top", "series": f"first {top}", "x": epoch,
                   **averaged(pd.Series(shares[:, top - 1]), ddof)}  # fmt: skip
