"""What npf Figure 3 shows: accuracy by stage, nu, and how much larger one kernel is."""

import pandas as pd

from finitewidth.common.number_words import listed, number
from finitewidth.papers.npf.figures.fig3 import FLNPF, Look
from finitewidth.tables.numbers import MISSING, runs_said, uncertain

SIZES = ("trace of K^{}", "Frobenius norm of K^{}")


def result(rows: pd.DataFrame, settings: Look) -> str:
    """Say whether later gates do better, whether nu falls, and how the kernels compare."""
    is_ours = (rows["panel"] == "stages") & (rows["source"] == "ours")
    stages = _stages(rows[is_ours], settings.unit)
    nu = _nu(rows[rows["panel"] == "nu"])
    sizes = _sizes(rows[rows["panel"] == "sizes"], settings.networks)
    return f"{stages} {nu}; {sizes}."


def _stages(rows: pd.DataFrame, unit: str) -> str:
    """The sentence on the accuracy by stage."""
    curve = rows[rows["series"] == FLNPF].dropna(subset=["accuracy"]).sort_values("stage")
    if curve.empty:
        return "No network with gates fixed at a stage has an accuracy."
    first = curve.iloc[0]
    last = curve.iloc[-1]
    if len(curve) == 1:
        return f"Gates of stage {first['stage']:g} alone reach {_accuracy(first, unit)}."
    relu = rows[rows["series"] == "ReLU"].dropna(subset=["accuracy"])
    beside = f"; ReLU networks have {_accuracy(relu.iloc[0], unit)}" if len(relu) else ""
    untrained = ", with networks that are not all trained" if (curve["trained"] == 0).any() else ""
    return (
        "The test accuracy of GCONV networks with the fixed gates of a ReLU network "
        f"{_steps(curve)}: {_accuracy(first, unit)} with those of stage "
        f"{first['stage']:g} and {_accuracy(last, unit)} with those of stage "
        f"{last['stage']:g}{beside} (± standard deviation {runs_said(curve['runs'])}{untrained})."
    )


def _steps(curve: pd.DataFrame) -> str:
    """In which steps from stage to stage the mean accuracy rises."""
    rises = curve["accuracy"].diff().iloc[1:] > 0
    if rises.all():
        return "rises with the stage of its training"
    if not rises.any():
        return "rises at no stage, while the paper has later gates do better"
    stages = curve["stage"]
    steps = zip(stages, stages.iloc[1:], rises, strict=False)
    failing = [f"from {first:g} to {second:g}" for first, second, rise in steps if not rise]
    return f"rises with the stage of its training, but not {listed(failing)}"


def _accuracy(row: pd.Series, unit: str) -> str:
    """An accuracy and its standard deviation in the unit of this version of the paper."""
    if unit == "percent":
        return f"{uncertain(100 * row['accuracy'], 100 * row['standard_deviation'])} %"
    return uncertain(row["accuracy"], row["standard_deviation"], 4)


def _nu(rows: pd.DataFrame) -> str:
    """How nu changes while a ReLU network learns."""
    curve = rows.dropna(subset=["nu"]).sort_values("epoch")
    if len(curve) < 2:
        return "Of $\\nu_t$ there are not two values"
    first, last = (
        f"{row['nu']:,.0f} ± {row['standard_deviation']:,.0f}".replace("nan", MISSING)
        for _, row in curve.iloc[[0, -1]].iterrows()
    )
    falls = "falls" if curve["nu"].iloc[-1] < curve["nu"].iloc[0] else "does not fall:"
    return (
        f"While a ReLU network learns, $\\nu_t$ {falls} from {first} to {last} "
        f"({runs_said(curve['runs'])})"
    )


def _sizes(rows: pd.DataFrame, networks: list[str]) -> str:
    """How many times larger the kernel of the values is than that of the features."""
    sizes = rows.set_index(["series", "epoch"])["size"]
    ratios = []
    for size in SIZES:
        value, feature = (sizes[sizes.index.get_level_values(0) == size.format(n)] for n in "vf")
        above = value.droplevel(0)
        ratio = above / feature.droplevel(0)
        ratios += list(ratio[(above > 0) & (ratio > 0)])
    value_kernel, feature_kernel = (f"$K^{network}$" for network in networks)
    if not ratios:
        return f"the sizes of {value_kernel} and {feature_kernel} have no ratio"
    low = number(min(ratios), 2)
    high = number(max(ratios), 2)
    return (
        f"trace and norm of {value_kernel} are {low} to {high} times those of {feature_kernel}, "
        "which the paper calls the same scale"
    )
