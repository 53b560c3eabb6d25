"""The style of figures: seaborn's theme without its import, and one layout per figure."""

import io

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from finitewidth.figures import job, style


@pytest.fixture(autouse=True)
def restored():
    with mpl.rc_context():
        yield


def with_panels(figure: Figure) -> Figure:
    axes = figure.subplots(2, 2)
    for number, axis in enumerate(axes.flat):
        axis.plot([1, 2, 30], [1, 10 ** (2 * number), 3], label=f"line {number}")
        axis.set(title="a title\nof two lines", ylabel="height", yscale="log")
        axis.legend()
    figure.suptitle("above")
    figure.colorbar(axes[0, 0].scatter([1, 2], [3, 4], c=[5, 6]), ax=axes[0])
    return figure


def drawn(figure: Figure, kind: str) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, metadata=job.METADATA[kind])
    return file.getvalue()


def places(figure: Figure) -> list[tuple[float, ...]]:
    return [axis.get_position(original=True).bounds for axis in figure.axes]


def test_a_figure_is_placed_as_matplotlib_places_it_at_300_dpi():
    style.apply()
    ours = with_panels(style.empty(height=3.0))
    plain = with_panels(Figure(figsize=(style.DOUBLE, 3.0), layout="constrained", dpi=300))
    unsettled = places(ours)
    drawn(ours, "svg")
    plain.draw_without_rendering()
    assert np.allclose(places(ours), places(plain), rtol=0, atol=6e-10)
    assert not np.allclose(places(ours), unsettled, atol=0.01)
    assert np.allclose(np.round(places(ours), 9), places(ours), rtol=0, atol=1e-15)
    assert all(axis.get_in_layout() for axis in ours.axes)


def test_a_file_of_a_figure_is_the_same_whatever_was_written_before():
    style.apply()
    kinds = ("pdf", "svg", "png")
    together = with_panels(style.empty(height=3.0))
    alone = {kind: drawn(with_panels(style.empty(height=3.0)), kind) for kind in kinds}
    assert {kind: drawn(together, kind) for kind in kinds} == alone
    assert {kind: drawn(together, kind) for kind in kinds} == alone


def test_a_file_of_a_figure_shows_its_layout():
    style.apply()
    ours = with_panels(style.empty(height=3.0))
    unsettled = with_panels(Figure(figsize=(style.DOUBLE, 3.0)))
    laid_out = drawn(ours, "png")
    assert laid_out != drawn(unsettled, "png")
    ours.set_layout_engine("none")
    assert drawn(ours, "png") == laid_out
