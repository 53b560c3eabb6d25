"""Renderers of dgn's trained networks draw the rows that they are given."""

import numpy as np
import pandas as pd
import pytest
from tests import artwork

from finitewidth.common import fields
from finitewidth.figures import style
from finitewidth.papers.dgn.figures import fig5, fig6, fig7, fig8

EPOCHS = 12


def curve(panel, series, split=None, level=0.5, **over):
    """A curve that falls from ``level`` by half."""
    return pd.DataFrame(
        {"panel": panel, "series": series, "split": split, "x": range(1, EPOCHS + 1),
         "y": np.linspace(level, level / 2, EPOCHS), "spread": 0.01, "runs": 3, "diverged": 0,
         "failed": 0, "test_accuracy": 0.975, "ridged": 0, "trained": 1, **over}
    )  # fmt: skip


def printed(*rows):
    """Numbers of the paper's text: quantity, row, column, value."""
    table = pd.DataFrame(rows, columns=["quantity", "row", "column", "value"])
    return table.assign(artifact="dgn_text")


def drawn(module, tables, settings=None):
    """The figure, after its rows were checked."""
    style.apply()
    rows = fields.checked(module.select(tables, settings or {}), module.FIELDS)
    return module.draw(rows, settings or {})


def curves_of(axis):
    """Label -> line of each curve with error bars."""
    return {bar.get_label(): bar[0] for bar in axis.containers}


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]


PAPER = printed(
    ("test_accuracy", "mnist", "relu", 98.5), ("test_accuracy", "mnist", "galu", 96.5),
    ("train_accuracy", "mnist", "all", 100), ("test_accuracy", "cifar10", "relu", 72),
)  # fmt: skip


def images(**over):
    return pd.concat([curve(p, s, level=0.9, **over) for p in fig5.PANELS for s in fig5.SERIES])


@pytest.mark.parametrize(
    ("pixels", "title"),
    [("random_pixels", "random pixels"), ("permuted_pixels", "pixels permuted")],
)
def test_fig5_draws_both_networks_in_every_panel(pixels, title):
    figure = drawn(fig5, {"curves": images(), "reported": PAPER}, {"pixels": pixels})
    assert artwork.faults(figure) == []
    assert figure.axes[2].get_title(loc="left").endswith(title)
    for axis in figure.axes:
        assert {"ReLU", "GaLU"} <= set(curves_of(axis))
    ends = curves_of(figure.axes[3])["ReLU"].get_ydata()[[0, -1]]
    assert ends.tolist() == pytest.approx([0.9, 0.45])
    assert figure.axes[3].get_ylabel() == "test accuracy (%)"


def test_fig5_puts_the_papers_numbers_beside_the_curves():
    figure = drawn(fig5, {"curves": images(), "reported": PAPER}, {"pixels": "random_pixels"})
    paper = [
        {bar[0].get_marker(): bar[0].get_xydata().tolist()[0] for bar in axis.containers
         if bar.get_label() == fig5.PAPER} for axis in figure.axes
    ]  # fmt: skip
    beside = fig5.BESIDE * EPOCHS
    assert paper == [{"D": [beside, 1.0]}, {}, {}, {"o": [beside, 0.985], "s": [beside, 0.965]}]
    (legend,) = figure.legends
    assert legend.get_title().get_text() == "mean and sample standard deviation, 3 runs"
    without = drawn(fig5, {"curves": images(), "reported": printed()}, {"pixels": "random_pixels"})
    assert texts(without.legends[0]) == ["ReLU", "GaLU"]


def test_fig6_draws_mean_and_bars():
    nu = curve("nu", "nu", level=9.0)
    figure = drawn(fig6, {"nu": nu})
    assert artwork.faults(figure) == []
    assert len(figure.axes[0].containers) == 1
    np.testing.assert_allclose(figure.axes[0].containers[0][0].get_ydata(), nu["y"])


def digits(**over):
    splits = {"train": ("train",), "test": ("test",)}
    return pd.concat(
        [
            curve(panel, series, split, level=0.5 if split == "train" else 0.8, **over)
            for panel, (_, names) in fig7.PANELS.items()
            for series in names
            for split in splits.get(panel, ("train", "test"))
        ]
    )


def test_fig7_dots_test_errors_and_says_of_how_many_images_the_accuracies_are():
    figure = drawn(fig7, {"curves": digits(test_images=72)})
    assert artwork.faults(figure) == []
    kinds = [{str(bar[0].get_linestyle()) for bar in axis.containers} for axis in figure.axes]
    assert [len(kind) for kind in kinds] == [1, 1, 2, 2]
    assert kinds[0] != kinds[1]
    legend = figure.axes[2].get_legend()
    assert texts(legend) == ["learnt gates: 97.5 %", "unlearnt gates: 97.5 %"]
    assert legend.get_title().get_text() == "test images right (of 72)"
    assert texts(figure.axes[0].get_legend()) == list(fig7.FOUR)
    unknown = drawn(fig7, {"curves": digits()}).axes[2].get_legend()
    assert unknown.get_title().get_text() == "test images right"


def kernels():
    soft = ("soft-GaLU", fig8.AT_START)
    series = {"gates": ("learnt gates", "unlearnt gates"),
              "adaptable": ("ReLU", "soft-ReLU", "frozen ReLU"),
              "ka": soft, "ka_hat": soft}  # fmt: skip
    rows = pd.concat([curve(p, s) for p, names in series.items() for s in names], ignore_index=True)
    first = rows["series"] == fig8.AT_START
    return rows[~first | (rows["x"] == 1)].assign(x=rows["x"].where(~first))


def test_fig8_draws_curves_and_the_first_value():
    figure = drawn(fig8, {"curves": kernels()})
    assert artwork.faults(figure) == []
    assert [len(axis.containers) for axis in figure.axes] == [2, 3, 1, 1]
    (first,) = [line for line in figure.axes[2].lines if line.get_label() == fig8.AT_START]
    assert first.get_ydata()[0] == 0.5
    assert all(axis.get_yscale() == "log" for axis in figure.axes)
    assert [len(texts(axis.get_legend())) for axis in figure.axes] == [2, 3, 2, 2]
