"""Diagrams from their data files, also of other sizes."""

import pytest
from tests.artwork import faults

from finitewidth.common import fields
from finitewidth.common.settings import preset_only
from finitewidth.figures import style
from finitewidth.papers.dgn.experiments import concepts as dgn
from finitewidth.papers.dgn.figures import fig9
from finitewidth.papers.npf.experiments import concepts as npf
from finitewidth.papers.npf.figures import fig1, fig2, fig4, fig5

CONFIG = preset_only("quick", "config")


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


def shown(module, tables, folder, settings=None):
    """Draw a figure from its data file."""
    fields.write(folder / "rows.csv", module.select(tables, settings or {}), module.FIELDS)
    style.apply()
    return module.draw(fields.read(folder / "rows.csv", module.FIELDS), settings or {})


@pytest.mark.parametrize(
    ("module", "paper", "settings"),
    [(fig1, "npf", {}), (fig2, "npf", {"paper": "npf"}), (fig2, "npf", {"paper": "npf0"}),
     (fig4, "npf", {}), (fig5, "npf", {}), (fig9, "dgn", {})],
)  # fmt: skip
def test_a_diagram_from_its_data_file_has_no_fault(measured, tmp_path, module, paper, settings):
    figure = shown(module, measured[paper], tmp_path, settings)
    assert inside(figure)
    assert faults(figure) == []


def test_figure_1_names_all_paths_and_prints_lambda(measured):
    shown = texts(fig1.draw(fig1.select(measured["npf"], {}), {}))
    assert {str(path) for path in range(1, 19)} <= set(shown)
    assert "$x_1$ and $x_2$ share paths 3 and 12:" in shown
    assert "path 3 = (1, 1, 3)" in shown


def test_figure_1_as_a_document(measured):
    """Lambda agrees with the lists of active paths in the document."""
    found = fig1.document(fig1.select(measured["npf"], {}))
    assert len(found["paths"]) == 18
    assert (found["paths"][2], found["paths"][11]) == ([1, 1, 3], [2, 1, 3])
    active = list(found["active"].values())
    assert set(active[0]) & set(active[1]) == {3, 12}
    counted = [[len(set(one) & set(other)) / 2 for other in active] for one in active]
    assert found["Lambda"] == counted


def test_figure_9_counts_what_it_draws(measured):
    shown = texts(fig9.draw(fig9.select(measured["dgn"], {}), {}))
    assert {"24 paths", "8 path strengths", "each shared by 3 paths,"} <= set(shown)
    assert sum(r"\,/\,3" in text for text in shown) == 8
