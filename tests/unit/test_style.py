"""The style of figures: seaborn's theme without its import, and one layout per figure."""

import io
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
import seaborn as sns
from matplotlib.figure import Figure

from finitewidth.figures import job, style

CYCLE = "axes.prop_cycle"
# of no effect: the font is named by RC, and every map names its colours
UNUSED = {"font.sans-serif", "image.cmap"}


@pytest.fixture(autouse=True)
def restored():
    with mpl.rc_context():
        yield


def test_the_style_is_seaborn_s_theme_with_our_sizes():
    mpl.rcdefaults()
    own = {*style.RC} - {*style.THEME, CYCLE}
    sizes = {key: style.RC[key] for key in own}
    sns.set_theme(context="paper", style="ticks", palette=style.COLOURS, rc=sizes)
    wanted = dict(mpl.rcParams)
    mpl.rcParams["lines.linewidth"] = 9  # as in a file of settings of the user
    style.apply()
    ours = dict(mpl.rcParams)
    assert {key for key in wanted if ours[key] != wanted[key]} - {CYCLE} == UNUSED
    cycles = [tuple(mpl.colors.to_hex(c["color"]) for c in rc[CYCLE]) for rc in (ours, wanted)]
    assert cycles[0] == cycles[1] == style.COLOURS


def test_neither_style_nor_a_plain_figure_imports_seaborn_or_scipy():
    code = (
        "import sys; from finitewidth.papers.npf.figures import fig3; "
        "from finitewidth.figures import style; style.apply(); style.subplots(1, 1, height=1); "
        "sys.exit(' '.join({'seaborn', 'scipy', 'torch'} & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


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
    style.enlarge_formulas(plain)
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


def test_scales_of_seaborn_are_found():
    dark, bright = style.shades([1, 2], name="mako").values()
    assert dark < bright
    with pytest.raises(KeyError):
        style.shades([1, 2], name="no such scale")
