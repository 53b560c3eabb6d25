"""Rows whose values no longer belong to their places support no claim about these places."""

import importlib

import numpy as np
import pytest
from tests.helpers.judged_claims import JUDGED, made_up, value_columns, verdict

from finitewidth.claims import verdicts

SEED = 1


def shuffled(values, rng):
    """All values of a row move to another row together."""
    return values[rng.permutation(len(values))]


def constant(values, rng):
    """Everywhere the mean."""
    return np.broadcast_to(values.mean(axis=0), values.shape)


PERTURBATIONS = {"shuffled": shuffled, "constant": constant}


def perturbed(tables, perturb, only):
    """The tables, the values of the first or of all of them perturbed."""
    rng = np.random.default_rng(SEED)
    found = {}
    for name, rows in tables.items():
        columns = value_columns(name, rows)
        if columns and not (only == "first" and found):
            values = rows[columns].to_numpy(float)
            rows = rows.assign(**dict(zip(columns, perturb(values, rng).T, strict=True)))
        found[name] = rows
    return found


def invariant(claim):
    return exempt_of(claim.paper).get(claim.id, ((), ""))


def exempt_of(paper):
    module = importlib.import_module(f"tests.claims.synthetic.{paper}")
    return getattr(module, "INVARIANT", {})


@pytest.mark.parametrize("how", PERTURBATIONS)
@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_values_out_of_place_support_nothing(claim, how):
    supporting, _ = made_up(claim)
    # one table perturbed is enough to tell: two may be made equal by one perturbation
    found = {
        verdict(claim, perturbed(supporting(), PERTURBATIONS[how], only))
        for only in ("first", "all")
    }
    exempt, reason = invariant(claim)
    assert (found == {verdicts.SUPPORTED}) == (how in exempt), reason


def test_only_judged_claims_are_exempt_and_with_a_reason():
    known = {claim.id for claim in JUDGED}
    for paper in {claim.paper for claim in JUDGED}:
        exempt = exempt_of(paper)
        assert set(exempt) <= known
        assert all(reason and set(hows) <= set(PERTURBATIONS) for hows, reason in exempt.values())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_none_stop_no_judge_and_support_nothing(claim, value):
    """Diverged runs, overflows: a verdict, not an exception; and never support."""
    supporting, _ = made_up(claim)
    tables = {
        name: rows.assign(**dict.fromkeys(value_columns(name, rows), value))
        for name, rows in supporting().items()
    }
    assert verdict(claim, tables) != verdicts.SUPPORTED
