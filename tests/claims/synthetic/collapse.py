"""Made-up rows for the claims of collapse."""

from tests.claims.synthetic import collapse_flow, collapse_networks

ROWS = {**collapse_flow.ROWS, **collapse_networks.ROWS}
INVARIANT = {**collapse_flow.INVARIANT, **collapse_networks.INVARIANT}
