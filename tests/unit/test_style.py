"""The style of figures: seaborn's theme without its import, and one layout per file."""

import io
import subprocess
import sys

import matplotlib as mpl
import pytest
import seaborn as sns
from matplotlib.figure import Figure

from finitewidth.figures import style

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
        "import sys; from finitewidth.figures.npf import fig3; from finitewidth.figures import "
        "style; style.apply(); style.subplots(1, 1, height=1); "
        "sys.exit(' '.join({'seaborn', 'scipy', 'torch'} & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def drawn(figure: Figure, kind: str) -> bytes:
    axes = figure.subplots(2, 2)
    for number, axis in enumerate(axes.flat):
        axis.plot([1, 2, 30], [1, 10 ** (2 * number), 3], label=f"line {number}")
        axis.set(title="a title\nof two lines", ylabel="height", yscale="log")
        axis.legend()
    figure.suptitle("above")
    file = io.BytesIO()
    for _ in range(2):  # the second time from the first layout
        file.seek(0)
        figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else {})
    return file.getvalue()


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_figure_that_is_laid_out_without_drawing_is_the_same(kind):
    style.apply()
    ours = drawn(style.empty(height=3.0), kind)
    plain = drawn(Figure(figsize=(style.DOUBLE, 3.0), layout="constrained"), kind)
    unsettled = drawn(Figure(figsize=(style.DOUBLE, 3.0)), kind)
    assert ours == plain != unsettled


def test_scales_of_seaborn_are_found():
    dark, bright = style.shades([1, 2], name="mako").values()
    assert dark < bright
    with pytest.raises(KeyError):
        style.shades([1, 2], name="no such scale")
