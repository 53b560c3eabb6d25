"""Made-up rows for the claims of dgn."""

from tests.claims.synthetic import npf_theory

ROWS = npf_theory.ROWS_OF_DGN
