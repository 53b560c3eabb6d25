"""Tables of limits of infinite width and of stated means, from made-up rows."""

from itertools import product

import pandas as pd
import pytest

from finitewidth.common import fields
from finitewidth.papers.dgn.tables import extra_identities
from finitewidth.papers.npf.experiments import limits
from finitewidth.papers.npf.tables import extra_limits


def typeset(module, tables):
    """The table of these rows, as from its data file."""
    return module.typeset(fields.checked(module.select(tables, {}), module.FIELDS), {})


def test_a_limit_is_held_against_the_networks_it_belongs_to():
    runs = pd.DataFrame(
        [
            {"weights": weights, "output_variance": variance, "limit": limit, "depth": 3,
             "width": 2048, "run": run, "scale": 0.9 + 0.1 * run, "correlation": 0.99, "error": 0.1}
            for weights, variance, limit, run in product(
                ("gaussian", "signed"), ("2/w", "1/w"), ("tangent", "halved", "signed"), range(3)
            )
        ]
    )  # fmt: skip
    rows = limits.measure({"limits": runs}, {})["rows"]
    assert len(rows) == 8  # two kinds of weights, two output variances, two limits each
    own = rows[rows["expected"].notna()][["weights", "output_variance", "limit"]]
    assert sorted(own.to_numpy().tolist()) == [
        ["gaussian", "1/w", "halved"], ["gaussian", "2/w", "tangent"], ["signed", "2/w", "signed"]
    ]  # fmt: skip
    assert rows["scale"].tolist() == pytest.approx([1.0] * 8)
    assert rows["scale_error"].tolist() == pytest.approx([0.1 / 3**0.5] * 8)
    table = typeset(extra_limits, {"rows": rows})
    cells = table.cells
    assert cells["output variance"].tolist() == ["2/w", "2/w", "1/w", "1/w"] * 2
    assert cells["expected"].tolist().count("1") == 3
    assert set(cells["factor"]) == {"1.000 ± 0.058"}
    assert table.notes == ("d = 3: 3 networks of width w = 2\u202f048",)


def test_stated_means_stand_beside_drawn_ones():
    row = {"identity": "D10", "case": "mean kernel, d=2", "expected": 2.0, "value": 2.01,
           "standard_error": 0.02, "draws": 5000}  # fmt: skip
    (line,) = typeset(extra_identities, {"identities": pd.DataFrame([row])}).cells.to_dict(
        "records"
    )
    assert line["what"] == "mean kernel, d = 2"
    assert line["where"] == "Corollary 8.1"
    assert (line["stated"], line["draws"]) == ("2", "5\u202f000")
    assert line["drawn ± standard error"] == "2.010 ± 0.020"
