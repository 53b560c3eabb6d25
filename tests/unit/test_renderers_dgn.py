"""Renderers of dgn's trained networks draw the rows that they are given."""

import pandas as pd
import pytest

from finitewidth.figures.dgn import fig5, fig7, fig8
from finitewidth.tables.dgn import extra_text, table4
from finitewidth.tables.npf import extra_text as npf_extra_text
from finitewidth.tables.typeset import latex

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


def test_table4_has_a_line_per_network_with_its_gate():
    rows = pd.DataFrame(
        {
            "network": ["dln", "soft_relu_eps0.1_beta8"], "regime": ["linear", "soft_relu"],
            "beta": [None, 8.0], "eps": [None, 0.1], "runs": 3, "diverged": 0,
            "reported_train": [0.5042, 0.99], "reported_test": [0.3939, None],
            **{f"{c}_{s}": v for c in table4.OURS for s, v in (("mean", 0.7), ("spread", 0.01))},
        }
    )  # fmt: skip
    cells = table4.typeset(rows, CIFAR).cells
    assert cells["network"].tolist() == ["deep linear", "soft-ReLU"]
    assert cells["β"].tolist() == ["", "8"]
    assert cells["paper, train"].tolist() == ["0.5042", "0.99"]
    assert cells["paper, test"].tolist() == ["0.3939", "–"]
    assert set(cells["test, best epoch"]) == {"0.700 ± 0.010"}
    assert not table4.typeset(rows, CIFAR).notes
    notes = table4.typeset(rows.assign(diverged=[0, 2]), CIFAR).notes
    assert notes == ("Runs that diverged and are left out: soft-ReLU, ε = 0.1, β = 8 2 of 5",)
    assert r"$\epsilon$ & $\beta$" in latex(table4.typeset(rows, CIFAR), "f")


@pytest.mark.parametrize(
    ("module", "key"),
    [(module, key) for module in (extra_text, npf_extra_text) for key in module.TITLES],
)
def test_text_tables_put_ours_beside_the_printed_number(module, key):
    rows = pd.DataFrame(
        [dict(zip(("quantity", "row", "column"), key, strict=True))
         | {"mean": 55.5, "spread": 0.25, "runs": 3, "diverged": 0, "select": "last",
            "reported": 56.0, "place": "section 1"}]
    )  # fmt: skip
    settings = {"datasets": {"mnist": "MNIST", "cifar10": "CIFAR-10"}}
    (line,) = module.typeset(rows, settings).cells.to_dict("records")
    assert (line["ours (%)"], line["paper (%)"], line["runs"]) == ("55.50 ± 0.25", "56", "3")
    assert module.typeset(rows, settings).notes == ()
    (note,) = module.typeset(rows.assign(diverged=1), settings).notes
    assert note.endswith(f"{module.TITLES[key]} 1 of 4")
    wanted = {"mnist": "MNIST", "all": "MNIST, CIFAR-10"}.get(key[1], "CIFAR-10")
    assert line["data"] == wanted
