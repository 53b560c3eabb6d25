"""The figure of energies in eigenvectors draws the rows of its data file."""

import numpy as np
import pytest
from tests.artwork import faults

from finitewidth.common import fields
from finitewidth.figures import job
from finitewidth.papers.npf.experiments import nu
from finitewidth.papers.npf.figures import extra_energy

SIZE = 12


@pytest.fixture(scope="module")
def tables():
    """Three runs at two epochs; rows as `finitewidth.papers.npf.experiments.nu` makes them."""
    rng = np.random.default_rng(0)
    splits = {}
    for epoch in (0, 3):
        shares = rng.dirichlet(np.full(SIZE, 0.3), size=3)
        parts = shares / np.geomspace(1, 1e-3, SIZE)
        splits[epoch] = np.stack([shares.cumsum(axis=1), parts.cumsum(axis=1)], axis=1)
    return {"energy": nu.energy_curves(splits)}


def redrawn(tables, folder):
    rows = extra_energy.select(tables, {})
    fields.write(folder / "fig.csv", rows, extra_energy.FIELDS)
    return rows, job.redraw("finitewidth.papers.npf.figures.extra_energy", folder / "fig.csv", {})


def test_energies_are_drawn_before_after_and_over_epochs(tables, tmp_path):
    rows, figure = redrawn(tables, tmp_path)
    assert faults(figure) == []
    shown = [axis.get_legend_handles_labels()[1] for axis in figure.axes]
    assert shown == [["epoch 0", "epoch 3"], ["epoch 0", "epoch 3"],
                     ["first 1", "first 2", "first 5", "first 10"]]  # fmt: skip
    assert [text.get_text() for text in figure.axes[0].texts] == [extra_energy.CHANCE]
    energy = tables["energy"].set_index(["panel", "series"]).sort_index()
    lines = {line.get_label(): line.get_ydata().tolist() for line in figure.axes[2].get_lines()}
    assert lines["first 5"] == pytest.approx(energy.loc[("top", "first 5"), "y"].tolist())
    ranks = rows[(rows["panel"] == "nu") & (rows["epoch"] == 3)]
    assert ranks["nu"].tolist() == energy.loc[("nu", "epoch 3"), "y"].tolist()
    assert (rows["share"].isna() == (rows["panel"] == "nu")).all()
