"""What the figures of npf add to their tables: runs of few networks, distances to a line."""

import math

import pandas as pd

from finitewidth.figures.by_depth import DESCENT, RECURSION
from finitewidth.papers.npf.figures import fig6, fig7

DEPTHS = (2, 4, 8, 12)


def memorisation(runs):
    """Tables of Figure 7 for two widths: ``runs`` of gradient descent, ten of the recursion."""
    spectra = []
    curves = []
    errors = []
    for network, width in (("narrow", 25), ("wide", 500)):
        place = {"figure": "npf_fig7", "network": network, "width": width, "diverged": 0}
        for depth in DEPTHS:
            at = place | {"depth": depth}
            spectra.append(at | {"index": 1, "cumulative": 1.0, "runs": 10})
            for dynamics, count in ((DESCENT, runs), (RECURSION, 10)):
                mean = {"dynamics": dynamics, "time": 5, "ratio": 0.5, "geometric": 0.5}
                ends = {"geometric_low": 0.4, "geometric_high": 0.6}
                curves.append(at | mean | ends | {"runs": count})
                errors += [at | mean | {"run": run, "ratio": 0.1 * (run + 1)} for run in range(20)]
    reported = [{"quantity": "best_depth", "row": "width25", "value": 8}]
    rows = {"spectra": spectra, "errors": curves, "runs": errors, "reported": reported}
    return {name: pd.DataFrame(table) for name, table in rows.items()}


def test_figure_7_shows_the_runs_of_a_mean_of_fewer_than_five():
    rows = fig7.TABLE.checked(fig7.select(memorisation(runs=2), {}))
    drawn = rows[rows["panel"] == fig7.RUN]
    assert set(drawn["dynamics"]) == {DESCENT}
    assert sorted(set(drawn["run"])) == [0, 1]
    assert len(drawn) == 2 * 2 * len(DEPTHS)  # runs, widths
    many = fig7.select(memorisation(runs=5), {})
    assert fig7.RUN not in set(many["panel"])


def test_figure_7_leaves_out_runs_that_diverged():
    tables = memorisation(runs=2)
    tables["errors"].loc[tables["errors"]["dynamics"] == DESCENT, ["runs", "diverged"]] = [2, 1]
    tables["runs"].loc[tables["runs"]["run"] == 1, "ratio"] = math.nan
    rows = fig7.select(tables, {})
    assert sorted(set(rows["run"].dropna())) == [0, 2]


def test_figure_7_shows_the_recursion_of_three_depths():
    rows = fig7.select(memorisation(runs=10), {})
    recursion = rows[rows["dynamics"] == RECURSION]
    depths = recursion.groupby("network")["depth"].apply(set).to_dict()
    assert depths == {"narrow": {2, 8, 12}, "wide": {2, 12}}  # the paper names no best of the wide


def test_figure_6_has_distances_to_the_line_of_the_identity():
    ideal = pd.DataFrame({"depth": 2, "index": [1, 2, 3], "cumulative": [0.5, 1.0, 3.0]})
    rows = fig6.TABLE.checked(fig6.select({"ideal": ideal}, {}))
    assert rows["shortfall"].tolist()[:2] == [0.5, 1.0]
    assert math.isnan(rows["shortfall"].iloc[2])
