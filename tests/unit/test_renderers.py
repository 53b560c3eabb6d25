"""npf Figure 3 draws the rows of its data file, and equal rows give equal files."""

import numpy as np
import pandas as pd
import pytest
from tests.artwork import faults

from finitewidth.common import fields, result_files
from finitewidth.figures import job
from finitewidth.papers.npf.figures import fig3

PERCENT = {"unit": "percent", "decoupled": "DLNPF", "networks": ["v", "f"]}
MARK = "stand-in data: digits 8×8 for MNIST"


def curve(panel, series, x, y):
    return pd.DataFrame(
        {"panel": panel, "series": series, "x": x, "y": y, "spread": 0.01, "runs": 3, "failed": 0}
    )


def printed():
    """Values of the paper: stages 0 and 3, one of them read off, and three reference lines."""
    rows = [("stage0", "flnpf", 55.0, np.nan), ("stage3", "flnpf", 66.0, 0.2)]
    rows += [("reference", "cntk", 77.43, np.nan), ("reference", "relu", 70.0, np.nan),
             ("reference", "frnpf", 55.0, np.nan)]  # fmt: skip
    own = pd.DataFrame(rows, columns=["row", "column", "value", "reading_error"])
    other = own.assign(artifact="npf_table2", value=99.0)
    return pd.concat([own.assign(artifact="npf_fig3"), other]).assign(runs=5)


def tables():
    stages = [curve("stages", "FLNPF", [0, 1, 2], [0.5, 0.6, 0.7])]
    stages += [curve("stages", name, [None], [y]) for name, y in (("ReLU", 0.65), ("FRNPF", 0.5))]
    kvf = [curve("kvf", name, [0, 5], [3.0, 40.0]) for name in fig3.SIZES]
    nu = curve("nu", "nu", [0, 2], [9.0, 4.0]).assign(ridged=0, condition_number=1e9)
    return {"stages": pd.concat(stages), "nu": nu, "kvf": pd.concat(kvf), "reported": printed()}


def render(folder, given=None, settings=PERCENT, footer="preset test · stand-in"):
    folder.mkdir(exist_ok=True)
    inputs = {}
    for name, rows in (given or tables()).items():
        inputs[name] = folder / f"in_{name}.csv"
        result_files.write_table(inputs[name], rows)
    outputs = {kind: str(folder / f"fig.{kind}") for kind in ("pdf", "png", "svg", "csv")}
    job.render_figure(
        "finitewidth.papers.npf.figures.fig3", inputs, outputs, settings, footer, MARK
    )
    return {kind: (folder / f"fig.{kind}").read_bytes() for kind in outputs}


def drawn(folder, given=None, settings=PERCENT):
    """Draw the figure from the data file that its tables give."""
    rows = fig3.select(given or tables(), settings)
    fields.write(folder / "fig.csv", rows, fig3.FIELDS)
    return job.redraw("finitewidth.papers.npf.figures.fig3", folder / "fig.csv", settings, MARK)


def lines(axis):
    return {line.get_label(): line for line in axis.get_lines()}


def heights(container):
    return container[0].get_ydata().tolist()


def test_a_figure_is_the_same_to_the_byte_and_names_its_footer(tmp_path):
    first, second = render(tmp_path / "a"), render(tmp_path / "b")
    assert first == second
    assert b"preset test" in first["svg"]
    assert b"CreationDate" not in first["pdf"]


def test_the_figure_shows_the_rows_of_its_data_file(tmp_path):
    figure = drawn(tmp_path)
    ours, paper, nu, sizes = figure.axes
    assert heights(ours.containers[0]) == [0.5, 0.6, 0.7]
    assert lines(ours)["ReLU"].get_ydata()[0] == 0.65
    assert heights(paper.containers[0]) == [0.55, 0.66]
    assert heights(nu.containers[0]) == [9.0, 4.0]
    assert len(sizes.containers) == 4
    assert faults(figure) == []


@pytest.mark.parametrize(("states", "open_marks"), [((0, 1, 1), [0.5]), ((1, 1, 1), None)])
def test_stages_that_are_not_trained_have_open_marks(tmp_path, states, open_marks):
    given = tables()
    given["stages"]["trained"] = [*states, 1, 0]
    figure = drawn(tmp_path, given)
    shown = lines(figure.axes[0])
    found = shown.get("FLNPF, not trained")
    assert (None if found is None else found.get_ydata().tolist()) == open_marks
    assert {"ReLU", "FRNPF, not trained"} < set(shown)
    assert faults(figure) == []
