"""References to tables lead to files."""

import pytest

from finitewidth.common.references import table_file


@pytest.mark.parametrize(
    ("reference", "file"),
    [
        ("npf_regimes.runs", "npf/experiments/regimes_runs.csv"),
        ("trust_heat_widths.cells", "trust/experiments/heat_widths_cells.csv"),
        ("dgn_planar.error_curves", "dgn/experiments/planar_error_curves.csv"),
        ("errata.errata", "errata/experiments/errata.csv"),
    ],
)
def test_a_reference_names_a_file(reference, file):
    assert table_file(reference) == file


@pytest.mark.parametrize("reference", ["", "npf_regimes", "npf_regimes.", ".runs", "a.b.c"])
def test_other_texts_are_refused(reference):
    with pytest.raises(ValueError, match="is not of the form"):
        table_file(reference)
