"""Renderers of dgn's trained networks draw the rows that they are given."""

import pandas as pd
import pytest

from finitewidth.figures.dgn import fig5, fig7, fig8

CIFAR = {"datasets": {"cifar10": "CIFAR-10"}}


def curve(panel, series, split=None, level=0.5):
    return pd.DataFrame(
        {"panel": panel, "series": series, "split": split, "x": [1, 2], "y": [level, level / 2],
         "spread": 0.01, "runs": 3, "diverged": 0, "test_accuracy": 0.975, "ridged": 0}
    )  # fmt: skip


def lines_of(axis):
    return {line.get_label(): line for line in axis.get_lines()}


@pytest.mark.parametrize(
    ("pixels", "title"),
    [("random_pixels", "Random pixels"), ("permuted_pixels", "Pixels permuted")],
)
def test_fig5_draws_both_networks_in_every_panel(pixels, title):
    rows = pd.concat([curve(p, s, level=0.9) for p in fig5.PANELS for s in fig5.SERIES])
    settings = {"pixels": pixels}
    figure = fig5.draw(fig5.select({"curves": rows}, settings), settings)
    assert figure.axes[2].get_title() == title
    assert [sorted(lines_of(axis)) for axis in figure.axes] == [["GaLU", "ReLU"]] * 4
    assert lines_of(figure.axes[3])["ReLU"].get_ydata().tolist() == [0.9, 0.45]
    assert figure.axes[3].get_ylabel() == "test accuracy"


def test_fig7_dots_test_errors_where_both_are_shown_and_names_accuracies():
    splits = {"train": ("train",), "test": ("test",)}
    rows = pd.concat(
        [
            curve(panel, series, split)
            for panel, (_, names) in fig7.PANELS.items()
            for series in names
            for split in splits.get(panel, ("train", "test"))
        ]
    )
    figure = fig7.draw(fig7.select({"curves": rows}, {}), {})
    assert {line.get_linestyle() for line in figure.axes[0].get_lines()} == {"-"}
    legend = [text.get_text() for text in figure.axes[2].get_legend().get_texts()]
    assert legend == ["learnt gates (97.5% right)", "unlearnt gates (97.5% right)", "train", "test"]
    drawn = [line for line in figure.axes[2].get_lines() if len(line.get_xdata())]
    assert sorted(line.get_linestyle() for line in drawn) == ["-", "-", ":", ":"]


def test_fig8_draws_curves_and_the_first_value():
    soft = ("soft-GaLU", fig8.AT_START)
    series = {"gates": ("learnt gates", "unlearnt gates"),
              "adaptable": ("ReLU", "soft-ReLU", "frozen ReLU"),
              "ka": soft, "ka_hat": soft}  # fmt: skip
    rows = pd.concat([curve(p, s) for p, names in series.items() for s in names])
    figure = fig8.draw(fig8.select({"curves": rows}, {}), {})
    assert [len(axis.containers) for axis in figure.axes] == [2, 3, 1, 1]
    assert lines_of(figure.axes[2])[fig8.AT_START].get_ydata()[0] == 0.5
    assert all(axis.get_yscale() == "log" for axis in figure.axes)
    rows.loc[rows["panel"] == "ka", "ridged"] = 1
    texts = [[t.get_text() for t in axis.texts] for axis in fig8.draw(rows, {}).axes]
    assert texts == [[], [], ["4 of 12 kernels: with a ridge"], []]
