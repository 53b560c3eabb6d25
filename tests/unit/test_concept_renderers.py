"""Diagrams, also of other sizes, and tables of equations, which are readable as plain text."""

import pandas as pd
import pytest

from finitewidth.common.settings import preset_only
from finitewidth.experiments.dgn import concepts as dgn
from finitewidth.experiments.npf import concepts as npf
from finitewidth.figures.dgn import fig9
from finitewidth.figures.npf import fig1, fig2, fig4, fig5
from finitewidth.tables import equations
from finitewidth.tables.dgn import table3 as dgn_table3
from finitewidth.tables.latex import latex
from finitewidth.tables.npf import table3 as npf_table3
from finitewidth.tables.typeset import markdown

CONFIG = preset_only("quick", "config")
TABLES = ("npf_table1", "npf_table4", "npf_table5", "npf0_table1", "dgn_table1", "dgn_table2",
          "dgn_table5")  # fmt: skip


@pytest.fixture(scope="module")
def measured():
    return {"npf": npf.measure({}, CONFIG["npf"]["concepts"]),
            "dgn": dgn.measure({}, CONFIG["dgn"]["concepts"])}  # fmt: skip


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def inside(figure):
    """Return whether every text lies within the page."""
    figure.canvas.draw()
    page = figure.bbox
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    return all(page.x0 <= b.x0 and b.x1 <= page.x1 and page.y0 <= b.y0 and b.y1 <= page.y1
               for b in boxes)  # fmt: skip


def test_every_diagram_fits_its_page(measured):
    drawn = [(fig1, "npf", {}), (fig2, "npf", {"paper": "npf"}), (fig2, "npf", {"paper": "npf0"}),
             (fig4, "npf", {}), (fig5, "npf", {}), (fig9, "dgn", {})]  # fmt: skip
    for module, paper, settings in drawn:
        rows = module.select(measured[paper], settings)
        assert inside(module.draw(rows, settings)), module.__name__


def test_figure_1_names_all_paths_and_prints_lambda(measured):
    shown = texts(fig1.draw(fig1.select(measured["npf"], {}), {}))
    assert {f"$p_{{{path}}}$" for path in range(1, 19)} <= set(shown)
    assert "$x_1$ and $x_2$ share $p_{3}$, $p_{12}$:" in shown


def test_figure_1_as_a_document(measured):
    """Lambda agrees with the lists of active paths in the document."""
    found = fig1.document(fig1.select(measured["npf"], {}))
    assert len(found["paths"]) == 18
    assert (found["paths"][2], found["paths"][11]) == ([1, 1, 3], [2, 1, 3])
    active = list(found["active"].values())
    assert set(active[0]) & set(active[1]) == {3, 12}
    counted = [[len(set(one) & set(other)) / 2 for other in active] for one in active]
    assert found["Lambda"] == counted


def test_figure_1_of_another_network():
    toy = {"inputs": 1, "width": 2, "gates": [[[1, 0], [0, 0]]] * 3}
    tables = npf.measure({}, {**CONFIG["npf"]["concepts"], "toy": toy})
    assert "$x_1$ and $x_2$ share no path:" in texts(fig1.draw(fig1.select(tables, {}), {}))


def test_figure_5_of_other_sizes():
    figure = fig5.draw(npf.padding({"width": 2, "hidden": 3, "copies": 4}), {})
    assert inside(figure)
    assert "width $mw = 8$" in texts(figure)


def test_figure_9_counts_what_it_draws(measured):
    shown = texts(fig9.draw(fig9.select(measured["dgn"], {}), {}))
    assert {"24 paths", "8 path strengths", "each shared by 3 paths,"} <= set(shown)
    assert sum(r"\,/\,3" in text for text in shown) == 8


@pytest.mark.parametrize("artifact", TABLES)
def test_a_table_of_equations_in_text_and_latex(measured, artifact):
    settings = {"artifact": artifact, "title": "t"}
    rows = equations.select(measured[artifact[:3]], settings)
    table = equations.typeset(rows, settings)
    text, tex = markdown(table, "foot"), latex(table, "foot", artifact)
    assert not set(text) & set("\\$")
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
