"""Diagrams from their data files, also of other sizes."""

import pytest

from finitewidth.common.settings import preset_only
from finitewidth.papers.dgn.experiments import concepts as dgn
from finitewidth.papers.dgn.figures import fig9
from finitewidth.papers.npf.experiments import concepts as npf
from finitewidth.papers.npf.figures import fig1

CONFIG = preset_only("quick", "config")


@pytest.fixture(scope="module")
def measured():
    return {"npf": npf.measure({}, CONFIG["npf"]["concepts"]),
            "dgn": dgn.measure({}, CONFIG["dgn"]["concepts"])}  # fmt: skip


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_figure_1_names_all_paths_and_prints_lambda(measured):
    shown = texts(fig1.draw(fig1.select(measured["npf"], {}), {}))
    assert {str(path) for path in range(1, 19)} <= set(shown)
    assert "$x_1$ and $x_2$ share paths 3 and 12:" in shown
    assert "path 3 = (1, 1, 3)" in shown


def test_figure_9_counts_what_it_draws(measured):
    shown = texts(fig9.draw(fig9.select(measured["dgn"], {}), {}))
    assert {"24 paths", "8 path strengths", "each shared by 3 paths,"} <= set(shown)
    assert sum(r"\,/\,3" in text for text in shown) == 8
