"""Made-up rows for the claims of collapse."""

from tests.claims.synthetic import collapse_flow

ROWS = {**collapse_flow.ROWS}
