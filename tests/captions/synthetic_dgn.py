"""Small tables of dgn in which networks are not trained (``effect``), or all are."""

import pandas as pd


def table(names, rows):
    """Rows as a table with these names."""
    return pd.DataFrame(rows, columns=names.split())


def sweep(effect):
    """Deep linear, ReLU and soft-ReLU networks; effect: of several slopes, two are not trained."""
    soft = [("soft_relu", beta, 0.1, int(beta < 16)) for beta in ((1, 4, 16) if effect else (4,))]
    others = [("linear", None, None, int(not effect)), ("relu", None, None, 1)]
    return {"rows": table("regime beta eps trained", [*others, *soft])}


def trained_curves(*lines):
    """Curves of the panels and series ``lines``; effect: the network of the last is not trained."""

    def make(effect):
        rows = [(panel, series, x, 0.9, int(not effect or (panel, series) != lines[-1]))
                for panel, series in lines for x in (1, 2)]  # fmt: skip
        return {"curves": table("panel series x y trained", rows)}

    return make


def dgn_text(effect):
    """Numbers in the text of dgn; effect: one of networks that are not trained."""
    rows = [("mnist", "relu", 1), ("cifar10", "gates_only", int(not effect))]
    return {"rows": table("row column trained", rows)}


TABLES = {
    "dgn_table4": sweep,
    "dgn_fig5": trained_curves(("mnist", "ReLU"), ("test", "ReLU"), ("labels", "GaLU")),
    "dgn_fig7": trained_curves(("train", "soft-GaLU"), ("train", "GaLU")),
    "dgn_fig8": trained_curves(("gates", "learnt gates"), ("ka", "soft-GaLU")),
    "dgn_extra_text": dgn_text,
}
