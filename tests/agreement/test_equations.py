"""The tables of equations, when evaluated, give the outputs of the networks of the project."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from finitewidth.kernels.gated_networks import feature_gates, relu_gates, value_pass
from finitewidth.kernels.paths import path_output
from finitewidth.networks.architecture import Layer
from finitewidth.networks.evaluate import Gates, Pass
from finitewidth.networks.forward import forward
from finitewidth.networks.regimes import regime
from finitewidth.papers.dgn.experiments import notations as dgn
from finitewidth.papers.npf.experiments import notations as npf

TABLES = {**npf.TABLES, **dgn.TABLES}
RELU_TABLES = ("npf_table1", "npf0_table1")
GIVEN_TABLES = ("dgn_table1", "dgn_table5")
SEPARATED = {"npf_table4": "fv", "npf_fig2": "fv", "npf0_fig2": "fv", "dgn_table2": "gw"}


@st.composite
def sizes(draw):
    """Draw the units of a network with one output; different widths reveal a wrong layer."""
    return [draw(st.integers(1, 4)), *draw(st.lists(st.integers(2, 4), min_size=1, max_size=3)), 1]


def normal(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def weights_of(units, seed):
    return [normal(seed + n, a, b) for n, (a, b) in enumerate(itertools.pairwise(units))]


def as_written(artifact, weights):
    """Return weights (fan_in, fan_out) with the axes in the order of the paper's indices."""
    axes = TABLES[artifact].notation.axes
    return [w.numpy().T if axes == "ij" else w.numpy() for w in weights]


def evaluated(artifact, weights, x=None, gates=None, equations=None):
    table = TABLES[artifact]
    written = {letter: as_written(artifact, layers) for letter, layers in weights.items()}
    inputs = None if x is None else x.numpy()
    chosen = Pass(
        equations or table.equations, written, table.notation.axes, inputs, gates or Gates()
    )
    return chosen.output()[:, 0]


def close(found, wanted):
    np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("artifact", RELU_TABLES)
@settings(max_examples=30, deadline=None)
@given(units=sizes(), seed=st.integers(0, 10**6))
def test_a_relu_network_is_the_sum_over_its_paths_and_what_is_trained(artifact, units, seed):
    weights, x = weights_of(units, seed), normal(seed + 99, 5, units[0])
    found = evaluated(artifact, {"": weights}, x)
    close(found, path_output(x, weights, relu_gates(weights, None, x)))
    close(found, trained("relu", weights, None, x))


def trained(name, value, feature, x, hidden="hard", **soft):
    """Return the output of the networks that the project trains, without biases."""
    gating = replace(regime(name, **soft).gating, feature_hidden=hidden)
    shapes = [weight.shape for weight in value]
    layers = [Layer(kind="dense", fan_in=a, fan_out=b, bias=False) for a, b in shapes]
    stacked = [
        None if ws is None else {f"{n}.weight": w[None] for n, w in enumerate(ws)}
        for ws in (value, feature)
    ]
    return forward(layers, gating, *stacked, x[None])[0, :, 0]


@pytest.mark.parametrize("artifact", SEPARATED)
@pytest.mark.parametrize("kind", ["hard", "soft"])
@settings(max_examples=15, deadline=None)
@given(units=sizes(), seed=st.integers(0, 10**6))
def test_separated_networks_agree_with_what_is_trained_and_kernels(artifact, kind, units, seed):
    value, feature = weights_of(units, seed), weights_of(units, seed + 50)
    x = normal(seed + 99, 5, units[0])
    soft = {"beta": 3.0, "eps": 0.2 if artifact == "dgn_table2" else 0.0} if kind == "soft" else {}
    hidden = "soft" if artifact == "dgn_table2" else "hard"
    first, second = SEPARATED[artifact]
    found = evaluated(artifact, {first: feature[:-1], second: value}, x, Gates(kind, **soft))
    close(found, trained("dlnpf", value, feature, x, hidden, **soft))
    gates = feature_gates(x, feature[:-1], None, hidden=hidden, beta=soft.get("beta"),
                          eps=soft.get("eps", 0.0))  # fmt: skip
    close(found, value_pass(x, value, None, gates)[2][:, 0])
    close(found, path_output(x, value, gates))


@pytest.mark.parametrize("artifact", GIVEN_TABLES)
@settings(max_examples=20, deadline=None)
@given(units=sizes(), seed=st.integers(0, 10**6))
def test_given_gates_are_used_as_they_are(artifact, units, seed):
    weights, x = weights_of(units, seed), normal(seed + 99, 5, units[0])
    gates = [normal(seed + 9 + n, 5, w).abs() for n, w in enumerate(units[1:-1])]
    found = evaluated(artifact, {"": weights}, x, Gates(given=[g.numpy() for g in gates]))
    close(found, path_output(x, weights, gates))


def test_the_memorisation_network_is_one_of_constant_input():
    weights = weights_of([1, 4, 3, 1], 7)
    gates = [(normal(n, 6, w) > 0).double() for n, w in enumerate((4, 3))]
    found = evaluated("npf_table5", {"": weights}, gates=Gates(given=[g.numpy() for g in gates]))
    close(found, path_output(torch.ones(6, 1).double(), weights, gates))


@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_padding_repeats_the_gates_of_the_feature_network(kind):
    feature, value = weights_of([3, 2, 4], 1), weights_of([3, 6, 12, 1], 2)
    x, beta = normal(3, 5, 3), None if kind == "hard" else 3.0
    found = evaluated("npf_table4", {"f": feature, "v": value}, x, Gates(kind, 3.0, copies=3))
    gates = [g.repeat(1, 3) for g in feature_gates(x, feature, None, beta=beta)]
    close(found, path_output(x, value, gates))


def misprints():
    return [(artifact, place) for artifact, table in TABLES.items() for place in table.misprints]


@pytest.mark.parametrize(("artifact", "place"), misprints())
def test_a_misprint_computes_something_else_or_nothing(artifact, place):
    table, units = TABLES[artifact], [3, 4, 4, 1]
    printed = [
        replace(e, right=table.misprints[place]) if (e.row, e.column) == place else e
        for e in table.equations
    ]
    assert printed != list(table.equations)
    networks = {letter: weights_of(units, n) for n, letter in enumerate("fv" if place[1] else [""])}
    x, gates = normal(9, 5, 3), Gates("soft" if "Soft" in place[0] else "hard", 3.0)
    right = evaluated(artifact, networks, x, gates)
    try:
        wrong = evaluated(artifact, networks, x, gates, printed)
    except (KeyError, IndexError):
        return
    assert not np.allclose(wrong, right)
