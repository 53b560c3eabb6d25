"""NC3 against tau, rates and decay: networks at equal tau, and what their tables say."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.helpers.measuring import measured

from finitewidth.common.errors import ConfigError
from finitewidth.data.bundled import digits
from finitewidth.figures import style
from finitewidth.papers.collapse.experiments import decay, sweep
from finitewidth.papers.collapse.experiments.over_seeds import (
    outcome_of,
    outcomes_of_statements,
    over_seeds,
)
from finitewidth.papers.collapse.figures import decay as figure_of_decay
from finitewidth.papers.collapse.settings.decay import Sweep
from finitewidth.records.provenance import base_seed
from finitewidth.settings.typed import section_from

RULE = {"trained": 0.95, "end": 6.0}
SWEEP = {
    "sweep": "fully_connected",
    "dataset": "mnist",
    "loss": "squared",
    "init": "torch",
    "runs": 2,
    "network": {"kind": "fully_connected", "dense": [16, 12]},
    "images": {"per_class": 24, "pool": 1, "size": None, "test": 50},
    "decays": [0.01, 0.04],
    "taus": [0.25, 1.0],
    "largest_rate": 1.0,
    "control_rates": [0.1],
    "epochs": 60,
    "batch_per_class": 6,
    "momentum": 0.9,
    "decay_rate_at": [0.5],
}


def made_up():
    """Runs of all sweeps, of networks whose NC3 is a power of tau."""
    sizes = {
        "vgg": (0.001, 0.004, 0.016),
        "resnet": (0.005, 0.08),
        "patches": (0.001, 0.02),
        "fully_connected": (0.0001, 0.0016),
    }
    rows = []
    for (name, decays), seed in product(sizes.items(), range(3)):
        noise = np.random.default_rng([len(name), seed]).normal(0, 0.02, 99)
        cases = [*product(decays, (0.6, 1.8, 5.4)), *[(0.0, 0.0)] * (name == "vgg")]
        for (strength, tau), shift in zip(cases, noise, strict=False):
            rates = tau / strength if strength else 300.0
            nc3 = 0.6 * tau**-0.6 * np.exp(shift) if tau else 0.97
            rows.append(
                {
                    "sweep": name,
                    "data": "cifar10" if name == "patches" else "mnist",
                    "network": name,
                    "normalised": int(name != "fully_connected"),
                    "seed": seed,
                    "decay": strength,
                    "rate": rates / 1000,
                    "rates": rates,
                    "tau": tau,
                    "nc3": nc3,
                    "overlap": np.exp(-tau) + 0.05 * (tau > 0),
                    "imbalance": np.exp(-2 * tau) if name == "fully_connected" else np.nan,
                    "train_accuracy": 0.99,
                }
            )
    return pd.DataFrame(rows)


def swept(**changes):
    with base_seed(0):
        return measured(sweep.measure, {"data": digits()}, SWEEP | changes)["runs"]


def summarised(sweeps):
    return measured(decay.measure, {"sweeps": sweeps}, RULE)


def cases_of(largest_rate):
    settings = section_from(Sweep, SWEEP | {"largest_rate": largest_rate})
    return sweep.cases_of(settings, 240, SWEEP["control_rates"])


@pytest.fixture(scope="module")
def runs():
    return swept()


def test_every_decay_has_the_rate_that_gives_tau(runs):
    assert list(runs.columns) == sweep.TABLES["runs"].names
    decayed = runs[runs["decay"] > 0]
    np.testing.assert_allclose(decayed["tau"], decayed["rates"] * decayed["decay"])
    total = (120 + 12) / (1 - 0.9)  # half of 240 steps at a tenth of the rate
    np.testing.assert_allclose(runs["rates"], runs["rate"] * total)
    assert set(runs.loc[runs["decay"] == 0, "tau"]) == {0.0}
    few = cases_of(0.05)
    cases = cases_of(1.0)
    assert len(few) < len(cases)
    assert all(case in cases for case in few)
    with pytest.raises(ConfigError, match="largest_rate"):
        cases_of(1e-6)


def test_without_normalisation_imbalance_falls_with_exp_of_minus_two_tau(runs):
    """Gradient flow conserves it but for weight decay; steps are small here."""
    decayed = runs[runs["decay"] > 0]
    np.testing.assert_allclose(decayed["imbalance"], np.exp(-2 * decayed["tau"]), rtol=0.15)
    np.testing.assert_allclose(runs.loc[runs["decay"] == 0, "imbalance"], 1, rtol=0.05)


def test_a_power_of_tau_alone_is_found_and_judged():
    tables = summarised(made_up())
    powers = tables["powers"].set_index(["sweep", "exponent"])["value"]
    assert powers["vgg", "tau"] == pytest.approx(-0.6, abs=0.03)
    assert powers["vgg", "decay"] == pytest.approx(0, abs=0.02)
    ranks = tables["ranks"].set_index(["sweep", "against"])["rank_correlation"]
    assert ranks["vgg", "tau"] < -0.9 < ranks["vgg", "decay"]
    judged = tables["judged"].set_index(["sweep", "criterion"])["outcome"].sort_index()
    overlap, balance = list(decay.RULE)[-2:]
    assert judged["fully_connected", balance] == "holds"
    assert judged["vgg", overlap] == "fails"
    assert set(judged["with_normalisation"].drop(overlap)) == {"holds"}
    shuffled = made_up()
    shuffled["nc3"] = np.random.default_rng(0).permutation(shuffled["nc3"])
    judged = summarised(shuffled)["judged"].set_index(["sweep", "criterion"])
    assert judged.loc[("vgg", "rank correlation with tau"), "outcome"] != "holds"


def test_a_value_on_the_threshold_is_undecided():
    rows = made_up().query("sweep == 'vgg' and decay > 0")
    rows = rows.assign(decay=rows["tau"])  # they have the same ranks
    judged = summarised(rows)["judged"].set_index(["sweep", "criterion"])
    row = judged.loc["vgg", "rank correlation with tau minus that with decay"]
    assert (row["value"], row["same"], row["outcome"]) == (0, 1, "undecided")


def test_networks_that_do_not_fit_count_nowhere():
    rows = made_up()
    rows.loc[rows["sweep"] == "resnet", "train_accuracy"] = 0.5
    tables = summarised(rows)
    assert "resnet" not in set(tables["ranks"]["sweep"])
    assert set(tables["cells"].query("sweep == 'resnet'")["trained"]) == {0}


def test_a_power_and_an_exponential_are_told_apart():
    rows = made_up().query("sweep == 'vgg' and decay > 0")
    power, exponential = (decay.fit(rows, form)["misfit"] for form in decay.FORMS)
    assert power < 0.03 < 0.1 < exponential
    rows = rows.assign(nc3=np.exp(-0.3 * rows["tau"]))
    power, exponential = (decay.fit(rows, form) for form in decay.FORMS)
    assert exponential["exponent"] == pytest.approx(-0.3)
    assert exponential["misfit"] == pytest.approx(0, abs=1e-9)
    assert power["misfit"] > 0.1


def test_fitted_curves_are_drawn_from_the_least_to_the_largest_tau_of_the_fit():
    fits = summarised(made_up())["fits"].set_index(["sweep", "form"]).sort_index()
    curve = fits.loc[("vgg", "power")]
    assert (curve["tau"].min(), curve["tau"].max()) == pytest.approx((0.6, 5.4))
    slopes = np.diff(np.log(curve["nc3"])) / np.diff(np.log(curve["tau"]))
    np.testing.assert_allclose(slopes, curve["exponent"].iloc[0])


def test_intervals_over_seeds_are_those_of_a_table_of_students_t():
    """For 97.5 %, t is 12.706 with 1 degree of freedom and 4.303 with 2."""
    for values, quantile in (([1.0, 3.0], 12.706), ([1.0, 2.0, 6.0], 4.303)):
        found = over_seeds(*of_seeds(values))
        half = quantile * np.std(values, ddof=1) / len(values) ** 0.5
        assert found["value"] == np.mean(values)
        assert found["high"] - found["low"] == pytest.approx(2 * half, rel=1e-4)
        assert found["same"] == 0


def of_seeds(values):
    """Rows and a statistic that has these values, one of each seed."""
    rows = pd.DataFrame({"seed": range(len(values)), "nc3": values})
    return rows, lambda networks: networks["nc3"].item()


def test_equal_values_of_all_seeds_have_no_interval():
    found = over_seeds(*of_seeds([-0.9, -0.9 - 1e-14, -0.9]))
    assert (found["seeds"], found["same"]) == (3, 1)
    assert np.isnan([found["low"], found["high"]]).all()
    one = over_seeds(*of_seeds([-0.9]))
    assert (one["seeds"], one["same"]) == (1, 0)
    assert outcome_of(found, -1, -0.8) == "holds"
    assert outcome_of(found, -0.5, 0.5) == "fails"
    assert outcome_of(one, -1, -0.8) == "undecided"  # a seed alone decides nothing


def test_intervals_end_at_the_bounds_of_the_statistic():
    values = [-1.0, -0.4]
    assert over_seeds(*of_seeds(values))["low"] < -1
    bounded = over_seeds(*of_seeds(values), bounds=(-1, 1))
    assert (bounded["low"], bounded["high"]) == (-1, 1)


def test_a_perfect_order_is_as_strong_as_equal_values_of_tau_allow():
    rows = made_up()
    rows = rows.assign(nc3=rows["tau"] * 0.1 + rows["decay"] + 0.01)
    ranks = summarised(rows)["ranks"].set_index(["sweep", "against"])
    row = ranks.loc[("resnet", "tau")]
    # two networks at each of three values of tau: mean ranks 1.5, 3.5, 5.5 beside 1 to 6
    expected = np.corrcoef([1, 2, 3, 4, 5, 6], [1.5, 1.5, 3.5, 3.5, 5.5, 5.5])[0, 1]
    assert row["strongest"] == pytest.approx(expected)
    assert row["rank_correlation"] == pytest.approx(expected)
    text = figure_of_decay.rank_text("ResNet", {**row, "value": expected})
    assert text.endswith("0.96, perfect in 3/3 seeds")


def test_seeds_without_a_statistic_are_counted_apart():
    rows = made_up()
    lost = (rows["sweep"] == "patches") & (rows["seed"] == 1) & (rows["decay"] > 0.001)
    rows.loc[lost, "train_accuracy"] = 0.5
    rows.loc[(rows["sweep"] == "patches") & (rows["tau"] > 5), "train_accuracy"] = 0.5
    row = summarised(rows)["ranks"].set_index(["sweep", "against"]).loc[("patches", "tau")]
    assert (row["seeds"], row["all_seeds"]) == (2, 3)


@pytest.fixture(scope="module")
def figure():
    """The figure of made-up sweeps, of which two networks have lost the memory of their start."""
    rows = made_up()
    rows.loc[(rows["sweep"] == "patches") & (rows["decay"] < 0.01), "overlap"] = -0.003
    tables = summarised(rows)
    look = section_from(figure_of_decay.Look, {"datasets": {}})
    selected = figure_of_decay.select(tables, look)
    style.apply()
    return figure_of_decay.draw(selected, look)


def test_a_decay_keeps_its_mark_where_other_decays_are_not_shown(figure):
    colour = figure_of_decay.SWEEPS["patches"][0]
    panel = figure.axes[4]
    marks = set()
    for line in panel.lines:
        if (
            line.get_color() == colour
            and line.get_gid() != figure_of_decay.BELOW
            and line.get_marker() in figure_of_decay.MARKERS
        ):
            marks.add(line.get_marker())
    assert marks == {"s"}  # the larger of its two decays


def test_means_below_the_edge_are_triangles_at_it(figure):
    panel = figure.axes[4]
    below = [line for line in panel.lines if line.get_gid() == figure_of_decay.BELOW]
    assert [line.get_xdata()[0] for line in below] == [0.6, 1.8, 5.4]
    assert {line.get_ydata()[0] for line in below} == {panel.get_ylim()[0]}


def test_rank_correlations_stand_below_all_bars(figure):
    figure.draw_without_rendering()
    for panel in figure.axes[:4]:
        text = max(
            panel.texts, key=lambda text: text.get_text().count("ρ") + ("rho" in text.get_text())
        )
        top = text.get_window_extent().y1
        bars = []
        for bar in panel.collections:
            bars.extend(bar.get_segments())
        lowest = min(panel.transData.transform(path)[:, 1].min() for path in bars)
        assert lowest > top


def test_the_legend_has_the_decays_of_every_network(figure):
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert r"VGG, $\lambda$ = 0.004" in words
    assert r"no batch normalisation, $\lambda$ = 0.0016" in words
    assert "VGG, no decay: only in b" in words


def test_a_power_of_decay_at_equal_tau_refutes_the_statement():
    rows = made_up()
    statement = summarised(rows)["statements"].iloc[0]
    assert (statement["outcome"], statement["refuted_by"]) == ("holds", "none")
    rows["nc3"] *= rows["decay"].where(rows["decay"] > 0, 1) ** 0.15
    statement = summarised(rows)["statements"].iloc[0]
    assert (statement["outcome"], statement["refuted_by"]) == (
        "fails",
        "power of decay at equal tau",
    )


def test_a_statement_needs_all_its_criteria():
    judged = summarised(made_up())["judged"].query("sweep == 'with_normalisation'")
    [(_, [criterion, *_])] = decay.STATEMENTS.items()
    row = judged["criterion"] == criterion
    for outcome, refuted_by in (("fails", criterion), ("undecided", "none")):
        changed = judged.assign(outcome=judged["outcome"].mask(row, outcome))
        found = outcomes_of_statements(changed, decay.STATEMENTS).iloc[0]
        assert (found["outcome"], found["refuted_by"]) == (outcome, refuted_by)
    found = outcomes_of_statements(judged[~row], decay.STATEMENTS).iloc[0]
    assert (found["outcome"], found["refuted_by"]) == ("undecided", "none")
