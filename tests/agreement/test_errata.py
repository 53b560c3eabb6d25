"""The check of every misprint that can be computed confirms it."""

from pathlib import Path

import pytest

from finitewidth.common.declarations import paper_names
from finitewidth.common.settings import preset_only
from finitewidth.errata import document, table
from finitewidth.errata.erratum import Evidence, extrapolated, outcome

ROOT = Path(__file__).parents[2]
# the number of networks in the settings; seeds are fixed, so tests with random networks are stable
NETWORKS = preset_only("paper", ROOT / "config")["errata"]["networks"]
PAPERS = paper_names(ROOT / "workflow/papers")
ERRATA = table.errata_of(PAPERS)
COMPUTED = [erratum for erratum in ERRATA if erratum.check]


@pytest.mark.parametrize("erratum", COMPUTED, ids=lambda erratum: erratum.id)
def test_the_printed_formula_is_wrong_and_the_corrected_one_right(erratum):
    found = erratum.computed(NETWORKS)
    assert found.confirms, found


def test_the_document_has_every_misprint_in_these_words_and_no_other():
    text = (ROOT / "docs/errata.md").read_text(encoding="utf-8")
    for erratum in ERRATA:
        assert document.wording(erratum) in text, (
            "python -m finitewidth errata --write docs/errata.md"
        )
    assert text.count("\n### ") == len(ERRATA)
    assert "not confirmed." not in text


def test_ids_are_unique_and_say_the_paper():
    ids = [erratum.id for erratum in ERRATA]
    assert len(set(ids)) == len(ids)
    for erratum in ERRATA:
        assert erratum.paper in PAPERS
        assert erratum.id.rsplit("-", 1)[0] == erratum.paper
        assert erratum.printed != erratum.corrected
        assert "`" not in erratum.printed + erratum.corrected
        assert erratum.kind in ("formula", "index", "wording", "units")
        # no LaTeX, because tables show the text as it is
        assert not set("\\$") & set(erratum.printed + erratum.corrected + erratum.evidence)


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
    evidence = Evidence("", truth, error, printed, corrected)
    assert evidence.confirms == confirms
    assert outcome(evidence) == ("misprint confirmed" if confirms else "not confirmed")
    assert outcome(None) == "not computed"


def test_extrapolation_takes_out_powers_of_one_over_m():
    limit, error = extrapolated([3 + 2 / m - 5 / m**2 + 7 / m**3 for m in (4, 8, 16, 32, 64)])
    assert limit == pytest.approx(3, abs=1e-12)
    assert error < 1e-9
