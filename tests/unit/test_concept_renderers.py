"""Tables of equations, which are readable as plain text."""

import pandas as pd
import pytest

from finitewidth.common.settings import preset_only
from finitewidth.papers.dgn.experiments import concepts as dgn
from finitewidth.papers.dgn.tables import table3 as dgn_table3
from finitewidth.papers.npf.experiments import concepts as npf
from finitewidth.papers.npf.tables import table3 as npf_table3
from finitewidth.tables import equations
from finitewidth.tables.latex import latex
from finitewidth.tables.typeset import markdown

CONFIG = preset_only("quick", "config")
TABLES = ("npf_table1", "npf_table4", "npf_table5", "npf0_table1", "dgn_table1", "dgn_table2",
          "dgn_table5")  # fmt: skip


@pytest.fixture(scope="module")
def measured():
    return {"npf": npf.measure({}, CONFIG["npf"]["concepts"]),
            "dgn": dgn.measure({}, CONFIG["dgn"]["concepts"])}  # fmt: skip


@pytest.mark.parametrize("artifact", TABLES)
def test_a_table_of_equations_in_text_and_latex(measured, artifact):
    settings = {"artifact": artifact, "title": "t"}
    rows = equations.select(measured[artifact[:3]], settings)
    table = equations.typeset(rows, settings)
    text, tex = markdown(table, "foot"), latex(table, "foot", artifact)
    assert text.count("$") == 2 * (rows["kind"] == "equation").sum()
    assert tex.count("$") % 2 == 0
    assert tex.count("{") == tex.count("}")
    assert ("prints" in text) == (artifact in ("npf_table1", "npf_table4"))
    assert isinstance(rows, pd.DataFrame)


def test_tables_3(measured):
    rows = npf_table3.select(measured["npf"], {})
    text = markdown(npf_table3.typeset(rows, {}), "foot")
    assert text.count("(a) or (b)") == text.count("(c) or (d)") == 2
    rows = dgn_table3.select(measured["dgn"], {})
    tex = latex(dgn_table3.typeset(rows, {}), "", "dgn_table3")
    assert r"\mathcal{N}(\Theta^g_t, \beta; \Theta^w_t)" in tex
