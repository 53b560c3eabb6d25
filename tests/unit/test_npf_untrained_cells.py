"""Tables of npf mark the networks that are not trained, and name the lowest train accuracy."""

import pandas as pd

from finitewidth.papers.npf.tables import extra_cntk, table2


def fitted(lowest=99.0):
    return {"train_accuracy": 99.0, "train_accuracy_lowest": lowest, "trained": int(lowest >= 95),
            "trained_from": 95.0}  # fmt: skip


def cells(lowest):
    """Table 2 of both versions; ``lowest``: (row, regime) -> lowest train accuracy."""
    rows = [
        {"paper": paper, "row": row, "regime": regime, "select": "best_test", "runs": 3,
         "diverged": 0, "difference": -1.0, "difference_se": -2.0, "reported_runs": 5,
         **fitted(lowest.get((row, regime), 99.0)),
         **{f"{name}_{what}": value for name in (*table2.OURS, "reported")
            for what, value in (("mean", 90.0), ("spread", 0.5))}}
        for paper in table2.REGIMES for row in table2.ROWS for regime in table2.REGIMES[paper]
    ]  # fmt: skip
    return pd.DataFrame(rows)


def typeset(paper, lowest):
    both = {"mnist": "digits", "cifar10": "patches"}
    settings = {"paper": paper, "datasets": both, "comparable": dict.fromkeys(both, False)}
    return table2.typeset(table2.select({"rows": cells(lowest)}, settings), settings)


def test_both_versions_of_table2_mark_our_lines_of_an_untrained_cell_and_no_other():
    for paper, name in (("npf", "DLNPF"), ("npf0", "DNPFL")):
        table = typeset(paper, {("gconv_sgd", "dlnpf"): 61.25, ("fc_sgd", "relu"): 94.9})
        marked = table.cells.map(lambda text: "†" in text)
        assert {column: list(marked.index[marked[column]]) for column in marked if
                marked[column].any()} == {name: [16, 17, 18], "ReLU": [0, 1, 2]}  # fmt: skip
        assert not table.cells[name][19].endswith("†")  # the paper's
        assert any("below 95 % (our threshold)" in note for note in table.notes)
        wanted = f"Lowest train accuracy of a run: FC/SGD ReLU 94.9 %, GCONV/SGD {name} 61.2 %"
        assert wanted in table.notes


def test_trained_tables_say_nothing():
    table = typeset("npf", {})
    assert not any("†" in note or "train accuracy" in note for note in table.notes)
    assert not table.cells.map(lambda text: "†" in text).any(axis=None)


def test_networks_beside_the_cntk_are_marked_and_the_kernel_is_not():
    rows = pd.DataFrame([
        {"kind": "kernel", "regime": "cntk", "train": 400, "accuracy": 55.0, "standard_error": 2.0},
        *({"kind": "network", "regime": regime, "train": 400, "runs": 3, "accuracy": 50.0,
           "standard_error": 2.0, "best_test": 51.0, **fitted(lowest)}
          for regime, lowest in (("dlnpf", 99.0), ("relu", 75.5))),
    ]).reindex(columns=["kind", "regime", "train", "runs", "accuracy", "standard_error",
                        "best_test", "ridge", "condition_number", *fitted()])  # fmt: skip
    told = {"datasets": {"cifar10": "patches"}}
    table = extra_cntk.typeset(extra_cntk.select({"rows": rows}, told), told)
    accuracies = table.cells.set_index("")["accuracy ± standard error"]
    assert [name for name, text in accuracies.items() if "†" in text] == ["ReLU"]
    assert "Lowest train accuracy of a run: ReLU 75.5 %" in table.notes
