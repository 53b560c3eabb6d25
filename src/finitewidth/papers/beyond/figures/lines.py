"""What the line plots of ``beyond`` share: colours by phase, estimates with errors, legends."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.ticker import FixedLocator, ScalarFormatter

from finitewidth.measures.text_numbers import printed_number
from finitewidth.papers.beyond import columns

EDGE = 2.0  # sigma_w^2 at the edge of chaos
SAMPLES = ("paper", "many")
MARKERS = "os^Dv<>Ph*"
PHASES = {"ordered": ("#4a98c9", "#08306b"), "chaotic": ("#ec620f", "#8b0010")}  # from, to
DISPERSION_TICKS = (1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200)
NEUTRAL = "#404040"  # kinds of lines in a legend, unlike the black of the edge of chaos

NETWORKS = (  # columns that say of which networks a value is
    columns.SAMPLE_SHOWN,
    columns.NETWORKS,
    columns.WIDTH_SHOWN,
    columns.ALPHA_0_SHOWN,
    columns.SIGMA_W2_SHOWN,
    columns.COSINE_SHOWN,
    columns.DEPTH_SHOWN,
    columns.DEPTH_OVER_WIDTH_SHOWN,
)


def tables_of_group(
    tables: Mapping[str, pd.DataFrame], group: str, banded: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Estimates and theory of a group; with ``banded`` only what is shown with error bands."""
    return (
        _rows_of(tables["estimates"], group, banded),
        _rows_of(tables["theory"], group, banded),
    )


def _rows_of(table: pd.DataFrame, group: str, banded: bool) -> pd.DataFrame:
    rows = table[table["group"] == group]
    return rows[rows["banded"].astype(bool)] if banded else rows


def estimates_and_curves(estimates: pd.DataFrame, theory: pd.DataFrame, value: str) -> pd.DataFrame:
    """Join estimates and curves in one table.

    Both have ``x`` = L / M and ``y``, which becomes the column ``value``. ``series`` is
    ``estimate`` or the name of the curve; other columns as in `NETWORKS`.
    """
    drawn = estimates.assign(series="estimate", networks=estimates["draws"])
    curves = theory.assign(series=theory["curve"], sample="none")
    rows = pd.concat([drawn, curves], ignore_index=True).assign(source="ours")
    names = {"x": "depth_over_width", "y": value, "spread": "standard_error"}
    return rows.rename(columns=names).assign(cosine=rows.get("cosine", np.nan))


def printed_rows(
    reported: pd.DataFrame, value: str, keys: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Rows with the numbers that the paper prints for all networks; ``keys`` are series -> key."""
    numbers = [printed_number(reported, "beyond", *key) for key in keys.values()]
    rows = pd.DataFrame({"series": keys.keys(), value: numbers})
    return rows.assign(source="paper", sample="none")


def colours(variances: Sequence[float]) -> dict[float, str]:
    """Variance -> colour: blue below the edge of chaos, black at it, orange to red above it.

    Larger variances are darker.
    """
    shades = {EDGE: "#000000"}
    shades |= _shades("ordered", sorted(v for v in variances if v < EDGE))
    shades |= _shades("chaotic", sorted(v for v in variances if v > EDGE))
    return shades


def _shades(phase: str, variances: Sequence[float]) -> dict[float, str]:
    """Variance -> colour, evenly spaced; a single variance has the colour in the middle."""
    count = len(variances)
    positions = np.linspace(0, 1, count) if count > 1 else [0.5] * count
    scale = LinearSegmentedColormap.from_list(phase, PHASES[phase])
    return {v: to_hex(scale(position)) for v, position in zip(variances, positions, strict=True)}


def samples_of(rows: pd.DataFrame) -> list[str]:
    """Return the sample sizes that occur, the paper's first."""
    return [sample for sample in SAMPLES if (rows["sample"] == sample).any()]


def log_dispersion_axis(axes: Sequence[Axes], lowest: float, highest: float) -> None:
    """Set logarithmic vertical axes from 0.98 or below; bars that reach zero end at their edge."""
    lowest = lowest if lowest > 0 else 0.1
    bottom = min(0.98 if highest < 3 else 0.9, lowest * 0.95)
    top = highest * 1.1
    ticks = _dispersion_ticks(highest, top)
    for axis in axes:
        axis.set_yscale("log")
        axis.set_ylim(bottom, top)
        axis.yaxis.set_major_locator(FixedLocator(ticks))
        axis.yaxis.set_major_formatter(ScalarFormatter())
        axis.minorticks_off()


def _dispersion_ticks(highest: float, top: float) -> list[float]:
    if highest > 200:
        return [10**power for power in range(9) if 10**power <= top]
    ticks = [tick for tick in DISPERSION_TICKS if tick <= top]
    return ticks if highest < 3 else [tick for tick in ticks if tick == int(tick)]
