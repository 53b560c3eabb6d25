"""The parts of the benchmarks that compute: counts, bounds, ratios, and the page from a table."""

import pandas as pd
import pytest
import torch
from benchmarks import document, growth_page, page, side_by_side, trained
from benchmarks.machine import MEMORY, NUMBERS, PRODUCTS, Machine, bound_of
from benchmarks.networks import JACOBIAN, NNGEOMETRY, OURS
from benchmarks.timing import Way, ratio_of
from benchmarks.work import Work
from tests.helpers.project import ROOT

MACHINE = Machine(
    {"float32": 2e9, "float64": 1e9}, bandwidth=1e9, normal=1e-8, gamma=1e-7, uniform=1e-9
)


@pytest.mark.parametrize("name", ["dense", "VGG"])
def test_ways_to_the_kernel_of_a_network_agree_and_a_wrong_one_is_refused(name):
    network, shape = trained.network_of(name, quick=True)
    x = torch.randn(3, *shape).to(next(network.parameters()).dtype)
    ours = trained.traced(name, network, x)
    ways = [make(network, x) for make in (trained.by_input, trained.by_pair)]
    trained.check(ours, ways, x.dtype)
    wrong = Way("wrong", lambda: 1.01 * ways[0].run(), 1, Work())
    with pytest.raises(SystemExit, match="wrong"):
        trained.check(ours, [wrong], x.dtype)


def test_the_bound_is_the_longest_time():
    work = Work(flops=4e9, bytes=1e9, normals=1e7, gammas=1e6, uniforms=1e8)
    assert bound_of(work, MACHINE, "float32") == (bound := bound_of(work, MACHINE, "float32"))
    assert (bound.name, bound.seconds) == (PRODUCTS, 2.0)
    assert bound_of(work, MACHINE, "float64").seconds == 4.0
    bound = bound_of(Work(flops=1e6, bytes=5e9), MACHINE, "float32")
    assert (bound.name, bound.seconds) == (MEMORY, 5.0)
    bound = bound_of(Work(normals=1e8, gammas=2e7, uniforms=3e9), MACHINE, "float32")
    assert (bound.name, bound.seconds) == (NUMBERS, pytest.approx(6.0))


def test_ratios_are_those_of_single_rounds():
    ratio = ratio_of([1.0, 2.0, 4.0, 1.0, 1.0], [3.0, 2.0, 40.0, 2.0, 4.0])
    assert (ratio.low, ratio.median, ratio.high) == (2.0, 3.0, 4.0)


def test_the_page_of_the_documentation_is_that_of_the_stored_tables(tmp_path):
    written = page.write(ROOT / "benchmarks/results", tmp_path)
    stored = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    assert written.read_text(encoding="utf-8") == stored
    assert all((ROOT / "docs" / picture.name).is_file() for picture in tmp_path.glob("*.png"))


def test_the_rule_beside_the_fastest_other_way():
    def row(network, way, seconds, ratio, most, check):
        facts = {"network": network, "inputs": 2, "kernel": "full", "state": side_by_side.MEASURED}
        return facts | {
            "way": way,
            "seconds": seconds,
            "ratio": ratio,
            "most": most,
            "check": check,
        }

    rows = []
    nan = float("nan")
    for network, ratio, most, check in [
        ("fast", 0.81, 1.0, 0.15),
        ("slow with the check", 0.79, 1.0, 0.2),
        ("slow without it", 0.81, 1.0, 0.05),
        ("bounded", 0.5, 0.7, 0.2),
    ]:
        rows.append(row(network, OURS, 1.0, nan, nan, check))
        rows.append(row(network, JACOBIAN, ratio, ratio, most, nan))
        rows.append(row(network, NNGEOMETRY, 9.0, 9.0, 9.0, nan))
    found = document.beside_the_fastest(pd.DataFrame(rows))
    assert list(found["rule"]) == ["holds", "does not hold", "does not hold", "forbidden"]
    assert set(found["fastest other way"]) == {JACOBIAN}


def test_the_ends_of_ways_and_how_their_time_grows():
    def row(way, value, state, seconds):
        facts = {"kernel": "traced", "sweep": "inputs", "way": way, "value": value}
        return facts | {"state": state, "seconds": seconds, "memory": 1e6 * value}

    rows = [
        row(OURS, 5, side_by_side.MEASURED, 0.1),
        row(OURS, 20, side_by_side.MEASURED, 1.6),
        row(JACOBIAN, 5, side_by_side.MEASURED, 0.2),
        row(JACOBIAN, 20, side_by_side.SLOW, float("nan")),
        row(NNGEOMETRY, 5, side_by_side.NO_SPACE, float("nan")),
    ]
    ours, jacobian = growth_page.ends(pd.DataFrame(rows)).to_dict("records")
    assert (ours["largest measured"], ours["exponent"], ours["the next"]) == (20, "2", "not tried")
    assert (jacobian["largest measured"], jacobian["exponent"]) == (5, "")
    assert jacobian["the next"] == f"20: {side_by_side.SLOW}"
