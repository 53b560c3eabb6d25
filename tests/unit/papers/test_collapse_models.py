"""The models that the figures of ``collapse`` show: picked, smoothed, and as heat maps."""

import numpy as np
import pandas as pd
import pytest
from tests.helpers.collapse_trainings import TRAINING
from tests.helpers.measuring import measured
from tests.helpers.redrawn_figures import redrawn

from finitewidth.common.errors import ConfigError
from finitewidth.data.bundled import digits
from finitewidth.kernels.trained import full_kernel
from finitewidth.papers.collapse.experiments import heat_maps, models, training
from finitewidth.papers.collapse.experiments.models import picks
from finitewidth.papers.collapse.figures import blocks
from finitewidth.papers.collapse.settings.pairs import Map, Pair, Picking, Smoothing
from finitewidth.records.provenance import base_seed
from finitewidth.settings.typed import section_from

PICKING = {
    "within": 0.01,
    "collapsed_nc3": None,
    "other_within": 0.02,
    "widened": 0.03,
    "train": 0.999,
    "relaxed_train": 0.995,
    "nc3": 0.3,
    "contrast": 1.4,
    "dead": 0.25,
}
SETTINGS = {
    "training": TRAINING,
    "picking": PICKING,
    "threshold": 0.05,
    "trained": 0.3,
    "smoothing": {"degree": 1, "window": 11, "fewest": 15},
    "maps": {"init": "lecun", "rate_index": None, "per_class": 2},
}


def runs(rows, init="lecun"):
    """A table of networks from rate -> (test, train accuracy, nc1_ratio, nc2, nc3)."""
    names = ["test_accuracy", "train_accuracy", "nc1_ratio", "nc2", "nc3"]
    return pd.DataFrame(
        [
            {
                "pair": "vgg_mnist",
                "init": init,
                "replica": 10 + index,
                "rate_index": index,
                "rate": rate,
                "alignment_theta_h": 0.9,
                "dead_share": 0.0,
                **dict(zip(names, values, strict=True)),
            }
            for index, (rate, values) in enumerate(rows.items())
        ]
    )


USUAL = {
    0.01: (0.900, 0.97, 0.30, 0.90, 1.10),
    0.05: (0.975, 1.00, 0.10, 0.50, 0.80),
    0.10: (0.980, 1.00, 0.05, 0.40, 0.60),
    0.30: (0.985, 1.00, 0.01, 0.20, 0.25),
    1.00: (0.990, 1.00, 0.02, 0.15, 0.15),
}


def picking(**changes):
    return section_from(Picking, PICKING | changes)


def picked(rows, **changes):
    found = picks(runs(rows), picking(**changes)).set_index("model")
    return found.loc["collapsed"], found.loc["other"]


def test_the_rule_finds_both_models():
    collapsed, other = picked(USUAL)
    assert (collapsed["rate"], collapsed["replica"], collapsed["found"]) == (1.0, 14, 1)
    assert collapsed["step"] == "within 1 point of the best"
    assert collapsed["tried"] == 3  # 0.1 is just within one point
    # 0.05 has larger NC2 and NC3, and is within 2 points only
    assert (other["rate"], other["rate_index"], other["nc3"]) == (0.05, 1, 0.80)
    assert other["step"] == "within 2 points of the best"
    assert other["tried"] == 4


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ((0.965, 1.00, 0.1, 0.5, 0.8), "within 3 points of the best"),
        ((0.965, 0.996, 0.1, 0.5, 0.8), "within 3 points of the best, training accuracy 0.995"),
        ((0.975, 0.996, 0.1, 0.5, 0.8), "within 3 points of the best, training accuracy 0.995"),
        ((0.975, 0.99, 0.1, 0.5, 0.8), "none"),
        ((0.955, 1.00, 0.1, 0.5, 0.8), "none"),
        ((0.975, 1.00, 0.1, 0.5, 0.3), "none"),
    ],
)
def test_the_rule_is_relaxed_in_steps(values, step):
    _, other = picked({0.05: values, 1.0: USUAL[1.0]})
    assert other["step"] == step
    assert other["found"] == int(step != "none")
    assert np.isnan(other["rate"]) == (step == "none")


def test_the_same_model_is_not_picked_twice():
    """All have NC3 above the bound; the best of them is called the one with collapse."""
    collapsed, other = picked({0.1: (0.98, 1, 0.05, 0.4, 0.6), 1.0: (0.90, 1, 0.1, 0.5, 0.8)})
    assert (collapsed["rate"], other["found"]) == (0.1, 0)
    collapsed, other = picked(USUAL, collapsed_nc3=0.1)
    assert (collapsed["found"], collapsed["step"], other["found"]) == (0, "none", 1)


@pytest.mark.parametrize(("nc3", "found"), [(0.349, 0), (0.351, 1)])
def test_the_other_model_is_clearly_farther_from_collapse(nc3, found):
    near = (0.98, 1.00, 0.02, 0.15, 0.25)
    _, other = picked({0.1: (0.98, 1.00, 0.05, 0.4, nc3), 1.0: near})
    assert other["found"] == found
    # without a model close to collapse there is nothing to compare it with
    assert picked({0.1: (0.98, 1.00, 0.05, 0.4, nc3), 1.0: near}, collapsed_nc3=0.1)[1]["found"]


def test_networks_with_many_dead_features_are_not_picked():
    rates = runs(USUAL).assign(dead_share=[0.0, 0.25, 0.0, 0.0, 0.26])
    found = picks(rates, picking()).set_index("model")["rate"]
    # distances are from the best of the others
    assert (found["collapsed"], found["other"]) == (0.3, 0.05)


def test_networks_that_diverged_are_not_picked():
    lost = {3.0: (0.999, 1.0, np.nan, np.nan, np.nan)}
    assert picked(USUAL | lost)[0]["rate"] == 1.0
    for model in picked(lost):
        assert (model["found"], model["step"]) == (0, "none")


def test_initialisations_are_picked_by_themselves():
    both = pd.concat([runs(USUAL), runs({0.3: USUAL[0.3]}, "he")], ignore_index=True)
    found = picks(both, picking())
    assert list(found["init"]) == ["lecun"] * 2 + ["he"] * 2
    assert list(found["found"]) == [1, 1, 1, 0]


def test_smoothing_fits_lines_to_windows():
    values = np.random.default_rng(0).normal(size=30)
    smoothing = section_from(Smoothing, SETTINGS["smoothing"])
    found = models.smoothed(values, smoothing)
    x = np.arange(30)
    for middle in (5, 17, 24):
        part = slice(middle - 5, middle + 6)
        expected = np.polyval(np.polyfit(x[part], values[part], 1), middle)
        assert found[middle] == pytest.approx(expected)
    assert np.array_equal(models.smoothed(values[:14], smoothing), values[:14])
    broken = np.where(x == 3, np.inf, values)
    assert np.array_equal(models.smoothed(broken, smoothing), broken)


@pytest.fixture(scope="module")
def inputs():
    with base_seed(0):
        found = measured(training.measure, {"data": digits()}, TRAINING)
    return found | {"data": digits()}


@pytest.fixture(scope="module")
def tables(inputs):
    with base_seed(0):
        return measured(models.measure, inputs, SETTINGS)


def test_rates_name_the_picked_models(inputs, tables):
    assert len(tables["rates"]) == 4
    chosen = tables["picks"].query("found == 1")
    named = tables["rates"].dropna(subset=["picked"])
    key = ["init", "rate", "nc3"]
    expected = sorted(chosen[[*key, "model"]].itertuples(index=False, name=None))
    assert sorted(named[[*key, "picked"]].itertuples(index=False, name=None)) == expected
    history = inputs["history"].query("epoch == 3")
    assert list(tables["rates"]["train_accuracy"]) == list(history["train_accuracy"])


def test_a_map_of_few_entries_above_0_ends_at_the_largest():
    matrix = np.zeros((20, 20))
    matrix[0, 0] = 5.0
    assert heat_maps._entries("theta", matrix)["share"].max() == 1


def test_curves_ends_and_lines_are_of_the_picked_models(inputs, tables):
    chosen = tables["picks"].query("found == 1")
    curves = tables["curves"]
    ends = tables["ends"]
    lines = tables["lines"]
    assert len(curves) == len(chosen) * 2 * len(models.CURVES)
    assert len(lines) == len(chosen)
    first = chosen.iloc[0]
    measures = inputs["measures"]
    own = measures[measures["replica"] == first["replica"]]
    place = f"init == '{first['init']}' and model == '{first['model']}'"
    curve = curves.query(f"{place} and quantity == 'nc3'")
    assert list(curve["value"]) == list(own["nc3"])
    assert list(curve["smooth"]) == list(curve["value"])  # too few points
    end = ends.query(place).set_index("quantity")["value"]
    last = own.iloc[-1]
    assert end["kappa_ratio"] == pytest.approx(last["kappa_c"] / last["kappa_n"])
    assert end["gamma_ratio"] == pytest.approx(last["gamma_c"] / last["gamma_n"])
    assert end["h2"] == last["h2"]


def test_a_line_is_the_first_epoch_at_the_threshold():
    accuracies = [0.5, 0.9, 0.8, 0.95]
    history = pd.DataFrame(
        {
            "pair": "p",
            "init": "he",
            "replica": 3,
            "epoch": [1, 2, 3, 4],
            "train_accuracy_last10": accuracies,
        }
    )
    own = pd.DataFrame([{"pair": "p", "init": "he", "model": "other", "replica": 3}])
    assert list(models.lines(history, own, 0.9)["epoch"]) == [2]
    assert models.lines(history, own, 0.99)["epoch"].isna().all()


def square(table, column="value"):
    """A symmetric matrix from its rows on and above the diagonal."""
    size = table["row"].max() + 1
    matrix = np.zeros((size, size))
    matrix[table["row"], table["column"]] = table[column]
    matrix[table["column"], table["row"]] = table[column]
    return matrix


def test_heat_maps_are_those_of_the_chosen_network(inputs, tables):
    picked = tables["picks"].query("init == 'lecun' and model == 'collapsed'").iloc[0]
    pair = section_from(Pair, TRAINING)
    images, labels = heat_maps.map_images(inputs["data"], pair.images, 2)
    assert list(labels) == sorted(labels)
    weights = inputs["weights"]
    module = heat_maps.trained_network(pair.network, weights, picked["replica"], images).double()
    for kernel, of in (("theta", module), ("theta_h", module.features)):
        full = full_kernel(module, images.double(), of=of).numpy()  # (K, N, K, N)
        traced = tables["traced"][tables["traced"]["kernel"] == kernel]
        norm_rows = tables["norms"][tables["norms"]["kernel"] == kernel]
        means = tables["blocks"][tables["blocks"]["kernel"] == kernel]
        expected = np.einsum("kikj->ij", full)
        np.testing.assert_allclose(square(traced), expected, rtol=1e-3, atol=1e-4 * expected.max())
        end = np.quantile(expected, 0.995)
        np.testing.assert_allclose(square(traced, "share"), expected / end, rtol=2e-3, atol=1e-4)
        assert traced["share"].max() > 1
        assert list(traced["class_row"]) == list(labels[traced["row"]])
        norms = np.sqrt((full**2).sum((1, 3)))
        found = square(norm_rows)
        np.testing.assert_allclose(found, norms, rtol=1e-3, atol=1e-4 * norms.max())
        block = means.iloc[0]
        off = []
        for i in range(len(norms)):
            for j in range(len(norms)):
                if i != j:
                    off.append(norms[i, j])
        ratio = np.median(off) / np.median(np.diag(norms))
        assert block["norm_ratio"] == pytest.approx(ratio, rel=1e-3)
        shares = []
        for i in range(len(norms)):
            for j in range(i):
                if min(norms[i, i], norms[j, j]) > 0:
                    shares.append(norms[i, j] / min(norms[i, i], norms[j, j]))
        assert block["norm_over_smaller"] == pytest.approx(np.median(shares), rel=1e-3)
        assert block["diagonal"] == pytest.approx(np.trace(expected) / 20 / len(norms), rel=1e-4)
        assert (block["choice"], block["rate"]) == ("collapsed", picked["rate"])
    measures = inputs["measures"]
    own = measures[measures["replica"] == picked["replica"]]
    aligned = tables["alignments"].query("kernel == 'theta_h'")
    assert list(aligned["value"]) == list(own["alignment_theta_h"])


def test_the_printed_rate_comes_first_and_the_best_accuracy_last():
    ends = runs({10 ** (-4 + 4.25 * 19 / 30): USUAL[0.05], 1.0: USUAL[1.0], 2.0: USUAL[0.1]})
    empty = picks(ends, picking(collapsed_nc3=0.0)).query("found == 1")
    pair = section_from(Pair, TRAINING)
    maps = section_from(Map, {"init": "lecun", "rate_index": 19})
    run, choice = models.mapped(ends, empty, maps, pair)
    assert (run["rate_index"], choice) == (0, "printed")
    maps = section_from(Map, {"init": "lecun", "rate_index": 20})
    found = models.mapped(ends, empty, maps, pair)
    assert (found[0]["rate"], found[1]) == (1.0, "best")
    found = models.mapped(ends, picks(ends, picking()).query("found == 1"), maps, pair)
    assert (found[0]["rate"], found[1]) == (1.0, "collapsed")
    with pytest.raises(ConfigError, match=r"maps\.init"):
        models.mapped(ends, empty, section_from(Map, {"init": "he", "rate_index": None}), pair)


def letter_of(axis):
    return axis.get_title(loc="left").removeprefix(r"$\mathbf{").partition("}")[0]


def test_maps_are_drawn_symmetric_and_alignments_with_their_last_value(tables, tmp_path):
    rows, figure = redrawn(blocks, tables, {}, tmp_path)
    panes = {letter_of(axis): axis for axis in figure.axes}
    for letter, size in zip("abcd", (20, 20, 10, 6), strict=True):
        shown = np.asarray(panes[letter].collections[0].get_array()).reshape(size, size)
        own = rows[rows["panel"] == letter]
        np.testing.assert_array_equal(shown, shown.T)
        np.testing.assert_array_equal(
            shown[own["row"].astype(int), own["column"].astype(int)], own["share"]
        )
    labels = [text.get_text() for text in panes["e"].get_legend().get_texts()]
    for kernel, line, label in zip(blocks.KERNELS, panes["e"].lines, labels, strict=True):
        own = rows[(rows["panel"] == "e") & (rows["kernel"] == kernel)]["alignment"]
        np.testing.assert_array_equal(line.get_ydata(), own)
        assert f"{own.iloc[-1]:.2f}" in label
