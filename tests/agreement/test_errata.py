"""Every erratum that can be computed is confirmed, and every quote stands in its text.

Quotes are compared if ``FINITEWIDTH_PAPERS`` names a folder with the texts.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from tests.helpers.project import ROOT
from tests.helpers.text_copies import copies, stands_there

from finitewidth.claims.facts import number_key
from finitewidth.claims.ledger import claims_of
from finitewidth.declarations.paper_files import COPIES, Quote, known_texts
from finitewidth.declarations.papers import paper_names
from finitewidth.declarations.reported_numbers import read_reported
from finitewidth.errata import document, table
from finitewidth.errata.evidence import Evidence, extrapolated, generator
from finitewidth.errata.table import KINDS, Erratum, outcome
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.networks.random_gated import draw_weights
from finitewidth.papers.beyond.errata import steps as lazy
from finitewidth.papers.collapse.errata import dynamics, limits
from finitewidth.papers.npf import errata as memorisation
from finitewidth.settings.presets import preset_only
from finitewidth.training.full_batch import gradient_descent

# the number of networks in the settings; seeds are fixed, so tests with random networks are stable
NETWORKS = preset_only("paper", ROOT / "config")["errata"]["networks"]
PAPERS = paper_names(ROOT / "workflow/papers")
ERRATA = table.errata_of(PAPERS)
COMPUTED = [erratum for erratum in ERRATA if erratum.check]
QUOTES = [(erratum.id, quote) for erratum in ERRATA for quote in erratum.quotes]


@pytest.mark.parametrize("erratum", COMPUTED, ids=lambda erratum: erratum.id)
def test_the_printed_formula_is_wrong_and_the_corrected_one_right(erratum):
    found = erratum.computed(NETWORKS)
    assert found.confirms, found


def test_the_document_has_every_misprint_in_these_words_and_no_other():
    text = (ROOT / "docs/errata.md").read_text(encoding="utf-8")
    for erratum in ERRATA:
        assert document.wording(erratum) in text, "finitewidth errata --write docs/errata.md"
    assert text.count("\n### ") == len(ERRATA)
    assert "not confirmed." not in text


def test_ids_are_unique_and_say_the_paper():
    ids = [erratum.id for erratum in ERRATA]
    assert len(set(ids)) == len(ids)
    for erratum in ERRATA:
        assert erratum.paper in PAPERS
        assert erratum.id.rsplit("-", 1)[0] == erratum.paper
        assert erratum.printed != erratum.corrected
        assert "`" not in erratum.printed + erratum.corrected + erratum.quantity
        assert bool(erratum.check) == bool(erratum.quantity)


@pytest.fixture(scope="module")
def texts():
    """The texts that the reader has: key -> lines."""
    return copies()


@pytest.mark.parametrize(
    ("name", "quote"), QUOTES, ids=[f"{name}, {quote.text}:{quote.line}" for name, quote in QUOTES]
)
def test_a_quote_stands_on_its_line(name, quote, texts):
    if quote.text not in texts:
        pytest.skip(f"{COPIES} names no folder with the text {quote.text}")
    assert stands_there(quote, texts[quote.text]), f"{name}: not on line {quote.line}"


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: erratum.id)
def test_an_erratum_has_a_class_and_quotes_from_texts_of_its_paper(erratum):
    assert erratum.kind in KINDS
    assert erratum.quotes, f"{erratum.id} quotes no text"
    for quote in erratum.quotes:
        assert erratum.paper in known_texts()[quote.text].papers
        assert "`" not in quote.words  # docs/errata.md shows them between backticks


def test_claims_and_numbers_of_the_errata_exist():
    for paper in PAPERS:
        claims = {claim.id for claim in claims_of(paper)}
        printed = read_reported(ROOT / "config/reported", paper)
        keys = {number_key(vars(number)) for number in printed}
        for erratum in ERRATA:
            if erratum.paper == paper:
                assert set(erratum.claims) <= claims, erratum.id
                assert set(erratum.numbers) <= keys, erratum.id


def _erratum(*quotes, check=None):
    return Erratum("beyond-0", "beyond", "(1)", "a", "b", "misprint", "Why.", check, quotes=quotes)


def test_an_erratum_is_transcribed_if_no_other_copy_has_the_words():
    ours = Quote(text="trust", line=2, words="a")
    scan = Quote(text="thesis", line=3, words="a")
    assert _erratum(scan).transcribed
    assert not _erratum(scan, ours).transcribed
    assert not _erratum().transcribed
    assert document.TRANSCRIBED in document.wording(_erratum(scan))
    assert document.TRANSCRIBED not in document.wording(_erratum(scan, ours))
    assert "- In `trust`: `a`\n" in document.wording(_erratum(scan, ours))


def test_transcribed_copies_of_two_versions_that_agree_are_said_to():
    final = Quote(text="npf", line=2, words="a")
    earlier = Quote(text="npf0", line=3, words="a")
    one = _erratum(final)
    both = _erratum(final, earlier)
    assert one.transcribed
    assert both.transcribed
    assert document.TRANSCRIBED in document.wording(one)
    assert document.TRANSCRIBED_TWICE in document.wording(both)
    assert document.TRANSCRIBED not in document.wording(both)


def test_a_row_names_sources_claims_and_numbers():
    erratum = replace(
        _erratum(Quote(text="trust", line=2, words="a"), Quote(text="thesis", line=3, words="b")),
        claims=("B01", "B02"),
        numbers=("x/y/z",),
    )
    row = table.row(erratum, 1)
    assert row["sources"] == 'trust: 2, "a"; thesis: 3, "b"'
    assert (row["claims"], row["numbers"]) == ("B01 B02", "x/y/z")
    assert row["transcribed"] is False
    table.TABLES["errata"].checked_all(pd.DataFrame([row]))


@pytest.mark.parametrize(
    ("truth", "error", "printed", "corrected", "confirms"),
    [
        (1.0, 0.0, 2.0, 1.0, True),
        (1.0, 0.0, 2.0, 1.0 + 1e-6, False),  # the corrected value is wrong
        (1.0, 0.0, 1.0 + 1e-4, 1.0, False),  # the printed value is too close
        (1.0, 0.1, 2.0, 1.3, True),
        (1.0, 0.1, 2.0, 1.5, False),
        (1.0, 0.1, 1.55, 1.0, False),  # the printed value is within six standard errors
        (0.0, 0.0, 0.5, 1e-22, True),
        (1.0, float("inf"), 2.0, 1.0, False),  # one draw
        (float("nan"), 0.0, 2.0, 1.0, False),
    ],
)
def test_confirmation(truth, error, printed, corrected, confirms):
    evidence = Evidence(truth, error, printed, corrected)
    assert evidence.confirms == confirms
    assert outcome(evidence) == ("misprint confirmed" if confirms else "not confirmed")
    assert outcome(None) == "not computed"


def test_extrapolation_takes_out_powers_of_one_over_m():
    limit, error = extrapolated([3 + 2 / m - 5 / m**2 + 7 / m**3 for m in (4, 8, 16, 32, 64)])
    assert limit == pytest.approx(3, abs=1e-12)
    assert error < 1e-9


@pytest.mark.parametrize("width", [100, 400, 1600])
def test_the_kernel_of_memorising_networks_changes_alike_at_all_widths(width):
    """Erratum npf-9: the change does not vanish with the width (4 standard errors)."""
    changes = memorisation.memorised_changes(width, 16, np.random.default_rng(width))
    error = changes.std(ddof=1) / len(changes) ** 0.5
    assert error < 0.03
    assert abs(changes.mean() - memorisation.limiting_change()) < 4 * error


def test_the_kernel_of_memorising_networks_stays_if_outputs_start_at_order_1():
    """First-layer weights of ±1 in place of ±1/√(μw): the change falls as 1/w or faster."""
    rng = np.random.default_rng(0)
    narrow = memorisation.memorised_changes(100, 16, rng, 1.0).mean()
    wide = memorisation.memorised_changes(1600, 16, rng, 1.0).mean()
    assert narrow < 0.01
    assert wide < narrow / 16


def _deep_changes(width, first_layer=None, depth=4, draws=8):
    """Relative changes of K of memorisation networks by 200 steps of gradient descent, (draws,)."""
    rng = np.random.default_rng(width)
    size = (2 / width) ** 0.5
    sizes = [1, *[width] * (depth - 1), 1]
    weights = draw_weights(sizes, size, draws, rng)
    if first_layer is not None:
        weights[0] *= first_layer / size
    gates = [torch.from_numpy(rng.integers(0, 2, (draws, 10, width)) * 1.0) for _ in sizes[1:-1]]
    targets = torch.from_numpy(rng.uniform(-1, 1, (draws, 10)))
    x = torch.ones(10, 1, dtype=torch.float64)
    before = value_kernel(x, weights, None, gates, with_biases=False)
    step = 0.1 / torch.linalg.eigvalsh(before)[:, -1]
    *_, last = gradient_descent(x, targets, weights, gates, step=step, times=[200])
    after = value_kernel(x, last.weights, None, gates, with_biases=False)
    return (torch.linalg.matrix_norm(after - before) / torch.linalg.matrix_norm(before)).numpy()


def test_the_kernel_of_deeper_memorising_networks_changes_as_much_in_wide_ones():
    """Erratum npf-9 at d = 4 and 10 targets, the gradient descent of npf Appendix D."""
    narrow = _deep_changes(50)
    wide = _deep_changes(200)
    error = np.hypot(narrow.std(ddof=1), wide.std(ddof=1)) / len(wide) ** 0.5
    # half of the change would be left if it fell as the square root of the width
    assert wide.mean() - narrow.mean() / 2 > 2.5 * error
    narrow = _deep_changes(50, 1.0)
    wide = _deep_changes(200, 1.0)
    assert wide.mean() < narrow.mean() / 2


@pytest.mark.parametrize("target", [0.3, 1.0, -2.0])
def test_the_limiting_change_for_one_input_is_that_of_the_invariant(target):
    """K_T² - K_0² = 4 (y² - ŷ_0²) for two layers; K_0 = 2 and ŷ_0 = 0 at infinite width."""
    after = (4 + 4 * target**2) ** 0.5
    change = memorisation.limiting_change(np.array([target]))
    assert change == pytest.approx(after / 2 - 1, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.5, 3.0, 100.0])
def test_the_step_of_a_rescaled_model_falls_with_alpha_only_where_the_output_is_0(alpha):
    """One network: its relative change is proportional to f - y/α, not to (f - y)/α²."""
    start = lazy.drawn_parameters()
    f = lazy.output(start, lazy.INPUT)
    plain = lazy.relative_change(start, 1.0)[0]
    scaled = lazy.relative_change(start, alpha)[0]
    assert scaled / plain == pytest.approx((f - 1 / alpha) / (f - 1), rel=1e-8)
    start[-1] -= f  # the bias of the output: now f = 0
    plain = lazy.relative_change(start, 1.0)[0]
    scaled = lazy.relative_change(start, alpha)[0]
    assert scaled / plain == pytest.approx(1 / alpha, rel=1e-8)


def test_the_squares_of_56_are_those_of_centred_outputs():
    """W pinv(W) = I for fewer classes than features, and the centring is its own square."""
    gram = generator("collapse-9").standard_normal((4, 6))
    gram = gram @ gram.T
    expected = 1.4 * (gram @ gram)[0, 0] - 3 * (1 - 1 / 4)
    assert limits.second_of_squares().truth == pytest.approx(expected, rel=1e-9)


def test_gradient_flow_keeps_the_rank_of_weights_only_where_the_invariant_is_0():
    start = dynamics.slim_state()
    assert np.linalg.matrix_rank(dynamics.product_after(start, 4.0), tol=1e-6) == 1
    rng = np.random.default_rng(0)
    moved = replace(start, features=start.features + 0.1 * rng.standard_normal((5, 6)))
    assert np.linalg.matrix_rank(dynamics.product_after(moved, 4.0), tol=1e-6) >= 2


def test_a_start_of_full_rank_with_no_invariant_can_fall_to_0():
    """W = -√(m/μ_class) H₁ᵀ, H₂ = 0 falls to 0; with a plus it is fitted."""
    means = np.random.default_rng(1).standard_normal((dynamics.FEATURES, 3))
    means -= means.mean(axis=1, keepdims=True)
    scale = (dynamics.SAMPLES / dynamics.MU_CLASS) ** 0.5
    ends = []
    for sign in (-1, 1):
        features = np.kron(means, np.ones(dynamics.SAMPLES))
        start = dynamics.State(sign * scale * means.T, np.full(3, 1 / 3), features)
        ends.append(dynamics.product_after(start, 6.0))
    assert abs(ends[0]).max() < 1e-4
    assert ends[1] == pytest.approx(np.eye(3) - 1 / 3, abs=1e-4)


def test_variation_within_classes_falls_at_all_times_where_the_invariant_is_0():
    """The repair of collapse-19: d tr S/dt <= -(2m/n) (tr S)² with E = 0, R₁ not 0."""
    start = dynamics.slim_state()
    n = dynamics.FEATURES
    m = dynamics.SAMPLES
    assert abs(start.weights @ start.means - np.eye(3) + 1 / 3).max() > 0.1
    rate = dynamics.second_part(dynamics.flow(start).features)
    trace = (start.rest**2).sum()
    assert 2 * (start.rest * rate).sum() <= -2 * m / n * trace**2
