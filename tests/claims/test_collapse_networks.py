"""Judges of trained networks of collapse: which networks count, and how many pairs it takes."""

import numpy as np
import pandas as pd
import pytest
from tests.claims.synthetic import collapse_networks as synthetic
from tests.helpers.judged_claims import ALL, judged_as

from finitewidth.claims import verdicts
from finitewidth.papers.collapse.experiments import models

CLAIMS = {claim.id: claim for claim in ALL if claim.id in synthetic.ROWS}
PAIRS = synthetic.PAIRS
each_claim = pytest.mark.parametrize("name", CLAIMS)


def judged(name, tables):
    return judged_as(CLAIMS[name], tables)


def supporting(name):
    return synthetic.ROWS[name][0]()


def changed(tables, pairs, rows_of, **values):
    """The tables ``rates_<pair>`` of some pairs with other values in the rows chosen."""
    found = dict(tables)
    for pair in pairs:
        rates = tables[f"rates_{pair}"].copy()
        for column, value in values.items():
            rates.loc[rows_of(rates), column] = value
        found[f"rates_{pair}"] = rates
    return found


def is_far(rates):
    return rates["picked"] == "other"


def test_made_up_ends_have_the_quantities_of_the_experiment():
    assert set(synthetic.ends("vgg_mnist")["quantity"]) <= set(models.ENDS)


@each_claim
def test_networks_that_are_not_trained_do_not_count(name):
    """Whatever their values: here they would contradict every claim."""
    tables = changed(
        supporting(name),
        [key[6:] for key in supporting(name) if key.startswith("rates_")],
        lambda rates: rates["train_accuracy"] < 0.95,
        test_accuracy=1.0,
        nc3=9.0,
        nc1=9.0,
        invariant_alignment=-1.0,
        e_norm=1e-9,
    )
    found = judged(name, tables)
    before = judged(name, supporting(name))
    assert found.verdict == verdicts.SUPPORTED
    assert [part["value"] for part in found.parts] == [part["value"] for part in before.parts]


@pytest.mark.parametrize("name", ["K11", "K14"])
@pytest.mark.parametrize(("lost", "decided"), [(4, True), (5, False)])
def test_both_models_must_be_there_in_five_pairs(name, lost, decided):
    tables = changed(supporting(name), PAIRS[:lost], is_far, picked=np.nan)
    found = judged(name, tables)
    assert found.verdict == (verdicts.SUPPORTED if decided else verdicts.NEEDS_MORE)
    assert decided or "both models in 4 pairs of a network and a dataset; 5 are" in found.reason


@pytest.mark.parametrize("lost", ["", "he"])
def test_a_difference_is_the_mean_over_pairs_of_the_means_over_initialisations(lost):
    """Those of which one model is missing are left out, the others of the pair are not."""
    tables = changed(
        supporting("K11"),
        PAIRS,
        lambda rates: is_far(rates) & (rates["init"] == lost),
        picked=np.nan,
    )
    rows = pd.concat([tables[f"ends_{pair}"] for pair in PAIRS])
    rows = rows[(rows["init"] != lost) & (rows["quantity"] == "alignment_theta")]
    wide = rows.pivot_table(index=["pair", "init"], columns="model", values="value")
    by_hand = (wide["collapsed"] - wide["other"]).groupby("pair").mean()
    first = judged("K11", tables).parts[0]
    assert first["value"] == pytest.approx(by_hand.mean())
    assert first["standard_error"] == pytest.approx(by_hand.std(ddof=1) / 3)


@pytest.mark.parametrize(("lost", "decided"), [(4, True), (5, False)])
def test_k10_uses_all_networks_and_needs_five_pairs(lost, decided):
    """Which models the figures show does not matter."""
    tables = changed(supporting("K10"), PAIRS, is_far, picked=np.nan)
    assert judged("K10", tables).parts == judged("K10", supporting("K10")).parts
    few = changed(
        tables, PAIRS[:lost], lambda rates: rates["rate"] > synthetic.RATES[2], train_accuracy=0.9
    )
    found = judged("K10", few)
    assert found.verdict == (verdicts.SUPPORTED if decided else verdicts.NEEDS_MORE)
    assert decided or "3 trained networks of one initialisation in 4 pairs" in found.reason


def test_a_pair_without_networks_that_fit_the_images_leaves_k09_open():
    tables = changed(
        supporting("K09"), PAIRS[:1], lambda rates: rates["rate"] > 0, train_accuracy=0.99
    )
    assert judged("K09", tables).verdict == verdicts.INCONCLUSIVE


def test_a_pair_whose_accurate_networks_are_all_collapsed_fails_in_k09():
    tables = changed(supporting("K09"), PAIRS[:1], is_far, nc3=0.29)
    found = judged("K09", tables)
    assert found.verdict == verdicts.NO_THRESHOLD
    assert found.count(verdicts.FAILS) == 1
    assert found.decisive.name.startswith("vgg_mnist")


@pytest.mark.parametrize(("rates", "verdict"), [(2, verdicts.NEEDS_MORE), (3, verdicts.SUPPORTED)])
def test_three_rates_of_each_initialisation_are_enough_for_ranks_that_agree(rates, verdict):
    tables = supporting("K10")
    key = f"rates_{synthetic.ENTROPY}"
    few = tables[key][tables[key]["rate"] > synthetic.RATES[-1 - rates]]
    assert judged("K10", tables | {key: few}).verdict == verdict
