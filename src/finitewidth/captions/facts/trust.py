"""Facts of the captions of ``trust``. r is the dispersion E[Theta^2] / E[Theta]^2."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.captions.facts import Tables, scaled, trained
from finitewidth.captions.facts.rows import (
    ends_of,
    falls,
    only,
    rises,
    share,
    span,
    values_of,
    where,
)

NAMES = {"tanh": "tanh", "relu": "ReLU", "erf": "erf"}
ORDERED, CHAOTIC = 0.75, 1.25  # of the border's weight variance, as in claims T01 and T02
DEEP = 0.5  # share of the range of L/M from which on networks count as deep
REACH = 0.5  # of depth over width, up to which growth with depth is told
EARLIER = 0.5  # of a depth: against which growth is told
RELU_BORDER = 2.0  # sigma_w^2
NEAR_ONE = 1.01  # of kappa_1 / kappa_2, as in claim T18
LARGE = 1e3  # of the same: it grows without settling
NEAR_BORDER = 0.01  # relative distance up to which a weight variance of a map is on the border


trust_fig3 = trust_fig4 = trained.at_the_end
trust_fig8 = trust_fig9 = trained.by_time
trust_fig10 = trust_fig11 = trained.by_width
trust_extra_scaled = scaled.control


def trust_fig1(tables: Tables) -> dict[str, Any]:
    """Maps of r for several widths: the ordered and the chaotic side, and the border."""
    maps = list(_maps(tables))
    widths = sorted({width for _, _, width, _, _ in maps})
    found = _sampled(tables["cells"]) | {
        "widths": [float(width) for width in widths],
        "ordered_share": ORDERED, "chaotic_share": CHAOTIC,
        "growth_lambda": REACH, "growth_share": EARLIER,
        "deepest": int(tables["cells"]["depth"].max()),
    }  # fmt: skip
    for name, width in (("narrow", widths[0]), ("wide", widths[-1])):
        inside = [_largest_ordered(cells, border) for _, border, w, _, cells in maps if w == width]
        found[f"{name}_ordered"] = span(value for value in inside if value is not None)
        on_border = [_deepest(_at_border(cells, border))
                     for activation, border, w, _, cells in maps
                     if w == width and activation == "relu"]  # fmt: skip
        found[f"{name}_border"] = span(value for value in on_border if value is not None)
    growth = [_growth(cells, border, width) for _, border, width, _, cells in maps]
    found["growth"] = span(value for value in growth if value is not None)
    found["grows"] = found["growth"] is not None and found["growth"][0] > 1
    wide, narrow = found["wide_border"], found["narrow_border"]
    found["border_widens"] = len(widths) > 1 and bool(wide and narrow) and wide[1] < narrow[0]
    return found


def trust_fig7(tables: Tables) -> dict[str, Any]:
    """Maps of r for several bias variances: where the borders lie, and which maps are exact."""
    cells, borders = tables["cells"], tables["borders"].sort_values("sigma_b2")
    tanh, relu = (where(borders, activation=name)["sigma_w2"] for name in ("tanh", "relu"))
    exact = where(cells, sample="exact")
    return _sampled(cells) | {
        "widths": values_of(cells, "width"),
        "biases": values_of(cells, "sigma_b2"),
        "tanh_moves": rises(list(tanh)),
        "tanh": (float(tanh.iloc[0]), float(tanh.iloc[-1])) if len(tanh) else None,
        "least_bias": float(borders["sigma_b2"].iloc[0]),
        "most_bias": float(borders["sigma_b2"].iloc[-1]),
        "relu_stays": len(relu) > 1 and bool(np.allclose(relu, relu.iloc[0])),
        "relu": float(relu.iloc[0]) if len(relu) else None,
        "without_biases": 0.0 in values_of(where(cells, activation="relu"), "sigma_b2"),
        "exact": len(exact) > 0 and values_of(exact, "sigma_b2") == [0.0]
        and set(exact["activation"]) == {"relu"},
    }  # fmt: skip


def _sampled(cells: pd.DataFrame) -> dict[str, Any]:
    """What was drawn, in which networks."""
    draws = cells.groupby("sample")["draws"].max()
    return {
        "activations": [NAMES[name] for name in cells["activation"].unique()],
        "bias": values_of(cells, "sigma_b2"),
        "draws": int(draws.get("ours", 0)),
        "paper_draws": int(draws.get("paper", 0)),
        "more": {"ours", "paper"} <= set(draws.index),
        "unsure": int(cells.loc[cells["sample"] == "ours", "error"].isna().sum()),
    }


def _maps(tables: Tables) -> Iterator[tuple[str, float, int, float, pd.DataFrame]]:
    """Activation, weight variance of its border, width, bias variance, cells of a map."""
    borders = tables["borders"].set_index(["activation", "sigma_b2"])["sigma_w2"]
    cells = tables["cells"]
    ours = cells[cells["sample"] != "paper"]
    ours = ours if len(ours) else cells
    for (activation, bias, width), own in ours.groupby(["activation", "sigma_b2", "width"]):
        yield activation, float(borders[activation, bias]), int(width), float(bias), own


def _largest_ordered(cells: pd.DataFrame, border: float) -> float | None:
    """The largest r well below the border."""
    inside = cells[cells["sigma_w2"] <= ORDERED * border + 1e-9]["dispersion"]
    return float(inside.max()) if len(inside) else None


def _at_border(cells: pd.DataFrame, border: float) -> pd.DataFrame:
    """The curve of the weight variance on the border, if the map has it."""
    return cells[(cells["sigma_w2"] / border - 1).abs() <= NEAR_BORDER]


def _deepest(curve: pd.DataFrame) -> float | None:
    """The value of r at the largest depth of the map."""
    return only(curve[curve["depth"] == curve["depth"].max()], "dispersion")


def _growth(cells: pd.DataFrame, border: float, width: int) -> float | None:
    """How r grows well above the border: from half a depth to it, the deepest up to M/2."""
    outside = cells[cells["sigma_w2"] >= CHAOTIC * border - 1e-9]
    curve = where(outside, sigma_w2=outside["sigma_w2"].min()).sort_values("depth")
    curve = curve[curve["depth"] <= REACH * width]
    upper = curve[curve["depth"] <= EARLIER * curve["depth"].max()]
    if upper.empty:
        return None
    return float(curve["dispersion"].iloc[-1] / upper["dispersion"].iloc[-1])


def trust_fig2(tables: Tables) -> dict[str, Any]:
    """Curves of r by phase; at the border the limits of ``beyond``, printed and corrected."""
    curves, limits = tables["curves"], tables["limits"]
    ours = curves[curves["sample"] != "paper"]
    ours = ours if len(ours) else curves
    ordered, chaotic = ours[ours["sigma_w2"] < RELU_BORDER], ours[ours["sigma_w2"] > RELU_BORDER]
    draws = curves.groupby("sample")["draws"].max()
    found = {
        "pairs": len(curves[["sigma_w2", "sigma_b2"]].drop_duplicates()),
        "widths": values_of(curves, "width"),
        "draws": int(draws.get("ours", 0)), "paper_draws": int(draws.get("paper", 0)),
        "more": "paper" in draws and len(draws) > 1,
        "exact": "exact" in draws,
        "exact_bias": values_of(where(curves, sample="exact"), "sigma_b2"),
        "ordered_falls": len(ordered) > 0 and all(
            _narrow_is_higher(line) for _, line in ordered.groupby(["sigma_w2", "sigma_b2"])
        ),
    }  # fmt: skip
    for name, width in (("narrow", ours["width"].min()), ("wide", ours["width"].max())):
        found[f"{name}_width"] = int(width)
        found[f"{name}_ordered"] = span(ordered[ordered["width"] == width]["dispersion"])
    return found | _few_draws(curves) | _chaotic(chaotic) | _limits(limits)


def _narrow_is_higher(line: pd.DataFrame) -> bool:
    """Whether the largest r of a curve falls from each width to the next."""
    return falls(list(line.groupby("width")["dispersion"].max()))


def _few_draws(curves: pd.DataFrame) -> dict[str, Any]:
    """At the border and above it: how many deep points of the small sample lie below the lines."""
    keys = ["sigma_w2", "sigma_b2", "width", "depth"]
    few = where(curves, sample="paper")
    many = curves[curves["sample"] != "paper"][[*keys, "dispersion"]]
    both = few.merge(many.rename(columns={"dispersion": "line"}), on=keys)
    deep_from = DEEP * float(curves["lambda"].max())
    both = both[(both["sigma_w2"] >= RELU_BORDER) & (both["lambda"] > deep_from)]
    below = share(both["dispersion"] < both["line"])
    return {
        "deep_from": deep_from, "below": below,
        "mostly_below": below is not None and below > 0.5,
    }  # fmt: skip


def _chaotic(rows: pd.DataFrame) -> dict[str, Any]:
    """Of the chaotic phase: how straight log r is over L/M, and r of the widths at one L/M."""
    if rows["width"].nunique() < 2 or len(rows) < 3:
        return {"straight": None, "together": None, "at_lambda": None, "grows": False}
    log = np.log(rows["dispersion"])
    line = np.polyval(np.polyfit(rows["lambda"], log, 1), rows["lambda"])
    total = float(((log - log.mean()) ** 2).sum())
    common = float(rows.groupby("width")["lambda"].max().min())
    at = [float(np.exp(np.interp(common, own["lambda"], np.log(own["dispersion"]))))
          for _, own in rows.sort_values("lambda").groupby("width")]  # fmt: skip
    return {
        "straight": 1 - float(((log - line) ** 2).sum()) / total if total else None,
        "grows": all(_is_higher_at_end(own) for _, own in rows.groupby("width")),
        "at_lambda": common,
        "together": (at[0], at[-1]),
    }


def _is_higher_at_end(line: pd.DataFrame) -> bool:
    """Whether r at the largest depth of a curve is above r in its middle."""
    line = line.sort_values("depth")["dispersion"].to_numpy()
    return len(line) > 1 and bool(line[-1] > line[(len(line) - 1) // 2])


def _limits(limits: pd.DataFrame) -> dict[str, Any]:
    """Limits of infinite depth and width at the largest L/M, printed and corrected."""
    last = limits[limits["lambda"] == limits["lambda"].max()]
    printed, corrected = (only(where(last, form=form), "dispersion")
                          for form in ("printed", "corrected"))  # fmt: skip
    known = printed is not None and corrected is not None
    return {
        "limit_lambda": float(last["lambda"].iloc[0]) if len(last) else None,
        "printed": printed, "corrected": corrected,
        "too_small": known and printed < corrected,
    }  # fmt: skip


def trust_fig5(tables: Tables) -> dict[str, Any]:
    """How far kappa_2 of different inputs lie apart, relative to their mean, early and late."""
    kappa, early = tables["kappa"], 2
    found: dict[str, Any] = _networks(kappa) | {"early": early}
    spread = {"early": [], "late": []}
    for _, group in _panels(kappa):
        table = group.pivot(index="depth", columns="covariance", values="log_kappa_2")
        table = np.exp(table.sub(table.max(axis=1), axis=0))
        apart = (table.max(axis=1) - table.min(axis=1)) / table.mean(axis=1)
        spread["early"].append(apart.get(early, np.nan))
        spread["late"].append(apart.iloc[-1])
    for name, values in spread.items():
        found[f"apart_{name}"] = span(values)
    found["together"] = bool(spread["early"]) and all(
        late < early for early, late in zip(*spread.values(), strict=True)
    )
    return found


def trust_fig6(tables: Tables) -> dict[str, Any]:
    """kappa_1 / kappa_2 of different inputs at the largest depth, by phase and activation."""
    kappa = tables["kappa"]
    found: dict[str, Any] = _networks(kappa) | {"near": NEAR_ONE - 1}
    ends: dict[tuple[str, str], list[float]] = {}
    settled = []
    for (activation, phase, _, _), group in _panels(kappa):
        last = ends_of(group, ["covariance"], "depth")["log_ratio"]
        ends.setdefault((activation, phase), []).extend(np.exp(np.minimum(last, 700)))
        if phase == "ordered":
            settled.append(_settles(group))
    found["ordered_to_one"] = bool(settled) and None not in settled
    found["ordered_depth"] = max(settled) if found["ordered_to_one"] else None
    for name, key in (
        ("erf_border", ("erf", "critical")), ("relu_border", ("relu", "critical")),
        ("erf_chaotic", ("erf", "chaotic")), ("relu_chaotic", ("relu", "chaotic")),
    ):  # fmt: skip
        found[name] = span(ends.get(key, []))
    found["explodes"] = bool(found["erf_chaotic"] and found["erf_chaotic"][0] > LARGE)
    return found


def _networks(kappa: pd.DataFrame) -> dict[str, Any]:
    return {
        "activations": [NAMES[name] for name in kappa["activation"].unique()],
        "depth": int(kappa["depth"].max()),
    }


def _panels(kappa: pd.DataFrame) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """The rows of each panel without parallel inputs, and without kappa_2 = 0 at depth 1."""
    rows = kappa[(kappa["covariance"] < 1) & np.isfinite(kappa["log_kappa_2"])]
    yield from rows.groupby(["activation", "phase", "sigma_w2", "sigma_b2"], sort=False)


def _settles(group: pd.DataFrame) -> int | None:
    """The first depth from which on all ratios are close to 1; None if the last ones are not."""
    table = group.pivot(index="depth", columns="covariance", values="log_ratio")
    far = table.index[(table.max(axis=1) >= np.log(NEAR_ONE)).to_numpy()]
    later = table.index[table.index > (far.max() if len(far) else 0)]
    return int(later.min()) if len(later) else None
