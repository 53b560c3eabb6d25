"""Laws of the lists that explain the papers: paths, overlaps, layouts, circular convolutions."""

import itertools
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.kernels_by_definition import overlap_by_definition
from tests.helpers.measuring import measured

from finitewidth.kernels import paths as definitions
from finitewidth.measures.equations import as_text
from finitewidth.papers.dgn.experiments import concepts as circular
from finitewidth.papers.dgn.experiments.concepts import regimes, variant
from finitewidth.papers.dgn.settings import Convolution
from finitewidth.papers.npf.experiments import concepts
from finitewidth.papers.npf.settings import DrawnPadding, Toy
from finitewidth.settings.presets import preset_only
from finitewidth.settings.typed import section_from

CONCEPTS = preset_only("quick", "config")["npf"]["concepts"]
TOY = section_from(Toy, CONCEPTS["toy"])


def net(inputs, kernel, layers, examples=()):
    values = {"inputs": inputs, "kernel": kernel, "layers": layers, "examples": list(examples)}
    return section_from(Convolution, values)


@st.composite
def toys(draw):
    width = draw(st.integers(1, 4))
    gates = st.lists(
        st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=2, max_size=2
    )
    values = {
        "inputs": draw(st.integers(1, 3)),
        "width": width,
        "gates": draw(st.lists(gates, min_size=3, max_size=3)),
    }
    return section_from(Toy, values)


@settings(max_examples=50, deadline=None)
@given(toys())
def test_toy_paths_and_overlaps_are_those_of_the_definitions(toy):
    listed = concepts.toy_paths(toy)
    sizes = (toy.inputs, toy.width, toy.width, 1)
    wanted = definitions.enumerate_paths(sizes)
    assert (listed[["layer_0", "layer_1", "layer_2"]].to_numpy() - 1 == wanted[:, :3].numpy()).all()
    gates = [torch.tensor(layer).double() for layer in zip(*toy.gates, strict=True)]
    overlap = concepts.overlaps(listed, 3, toy.inputs)["overlap"].to_numpy().reshape(3, 3)
    assert (overlap == overlap_by_definition(gates, wanted).numpy()).all()


@settings(max_examples=50, deadline=None)
@given(toys())
def test_a_red_edge_lies_on_an_active_path(toy):
    rows = concepts.toy_rows(toy)
    listed = concepts.toy_paths(toy)
    edges = rows[rows["kind"] == "edge"]
    for example in (1, 2, 3):
        on = listed[listed[f"active_{example}"] == 1]
        routes = [(*path, 1) for path in on[["layer_0", "layer_1", "layer_2"]].to_numpy().tolist()]
        wanted = set()
        for route in routes:
            for layer, (a, b) in enumerate(itertools.pairwise(route), start=1):
                wanted.add((layer, a, b))
        red = edges[edges[f"active_{example}"] == 1][["layer", "start", "end"]]
        assert set(map(tuple, red.astype(int).to_numpy().tolist())) == wanted


def test_the_gates_drawn_are_as_the_paper_says():
    overlap = concepts.overlaps(concepts.toy_paths(TOY), 3, TOY.inputs)
    both = overlap[(overlap["s"] == 1) & (overlap["s_prime"] == 2)].iloc[0]
    assert (both["shared"], both["overlap"]) == ("3 12", 1)


def test_formulas_are_written_as_text():
    assert as_text(r"$q^f_x(i, l) = \sum_j \Theta^f(i, j, l)$") == "qᶠₓ(i, l) = Σⱼ Θᶠ(i, j, l)"
    assert as_text(r"G = \frac{1}{1 + \exp(-\beta q)}") == "G = 1 / (1 + exp(−β q))"
    for equations in (concepts.EQUATIONS, circular.EQUATIONS):
        texts = []
        for rows in equations.values():
            for *_, latex in rows:
                texts.append(as_text(latex))
        assert not {"\\", "$"} & set("".join(texts))


def test_four_layouts_and_their_successors():
    tables = measured(concepts.measure, {}, CONCEPTS)
    four = tables["layouts"]
    successors = tables["successors"]
    seen = four.drop_duplicates("layout").set_index("layout")[["starts", "ends", "weights"]]
    assert {name: tuple(row) for name, row in seen.T.items()} == {
        "a": (1, 1, 1),
        "b": (1, 2, 2),
        "c": (2, 1, 2),
        "d": (2, 2, 2),
    }
    after_one = {"a", "b"}
    after_two = {"c", "d"}
    allowed = successors.groupby("layout")["next"].agg(set).to_dict()
    assert allowed == {"a": after_one, "b": after_two, "c": after_one, "d": after_two}


def test_ways_are_those_whose_product_has_a_mean():
    signs = np.array(list(itertools.product((-1, 1), repeat=4))).reshape(-1, 2, 2)
    ways = concepts.weight_pairings()
    found = {tuple(zip(*way, strict=True)) for way in ways if max(map(max, way)) < 2}
    for taken in itertools.product(itertools.product(range(2), repeat=2), repeat=4):
        mean = np.mean([np.prod([sign[w] for w in taken]) for sign in signs])
        assert (mean != 0) == (taken in found)


@settings(max_examples=20, deadline=None)
@given(inputs=st.integers(2, 5), kernel=st.integers(1, 3), layers=st.integers(1, 3))
def test_paths_share_strengths(inputs, kernel, layers):
    taps = min(kernel, inputs)
    circle = net(inputs, taps, layers)
    listed = circular.paths(circle)
    assert list(circular.TABLES["paths"].checked_all(listed)) == list(listed)
    assert len(listed) == inputs * taps**layers
    assert listed["taps"].nunique() == listed["bundle"].nunique() == taps**layers
    assert (
        listed.groupby("bundle")["unit_0"].agg(sorted).map(tuple) == tuple(range(1, inputs + 1))
    ).all()
    edges = set(
        map(tuple, circular.connections(circle)[["layer", "start", "end", "tap"]].to_numpy())
    )
    for path in listed.to_dict("records"):
        walked = map(int, path["taps"].split())
        units = [path[f"unit_{layer}"] for layer in range(layers + 1)]
        steps = zip(range(1, layers + 1), units, units[1:], walked, strict=False)
        assert set(steps) <= edges


@settings(max_examples=10, deadline=None)
@given(st.lists(st.lists(st.integers(-5, 5), min_size=3, max_size=3), min_size=1, max_size=2))
def test_the_lemma_holds_and_shifts_change_nothing_but_only_with_the_average(examples):
    kernel = circular.kernels(net(3, 2, 2, examples))
    np.testing.assert_allclose(kernel["pooled"], kernel["lemma"], atol=1e-12 * 10**4)
    spread = kernel.groupby(["gating", "s", "s_prime"])["pooled"].agg(np.ptp)
    assert spread.max() <= 1e-9


def test_without_the_average_a_shift_does_change_the_kernel():
    kernel = circular.kernels(net(3, 2, 3, [[3, -1, 2]]))
    assert kernel.groupby(["gating", "s", "s_prime"])["unpooled"].agg(np.ptp).max() > 1


def test_table_3_as_the_paper_has_it_and_one_more():
    rows = [variant(*named) for named in regimes().items()]
    assert [row["text"] for row in rows] == [
        "N(Θₜ, ∞; Θₜ)",
        "N(Θᵍ†, ∞; Θʷₜ)",
        "N(Θₜ, β; Θₜ)",
        "N(Θᵍₜ, β; Θʷₜ)",
        "N(Θᵍₜ, β; Θʷ†)",
    ]
    assert Counter(row["trained"] for row in rows) == {1: 4, 2: 1}


def test_a_padded_unit_takes_the_gate_of_its_place_in_its_copy():
    sizes = section_from(DrawnPadding, {"width": 3, "hidden": 1, "copies": 2})
    rows = concepts.padding(sizes)
    assert rows["unit"].tolist() == [1, 2, 3, 4, 5, 6]
    assert rows["gate"].tolist() == [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize("number", [0, 1, 5])
def test_paths_of_the_figure_are_counted_as_the_paper_counts_them(number):
    listed = concepts.toy_paths(TOY)
    assert len(listed) == 18
    assert listed.iloc[3 * number][["layer_0", "layer_1"]].tolist() == [
        number // 3 + 1,
        number % 3 + 1,
    ]
