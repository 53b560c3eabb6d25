"""Claims of collapse.

Neural collapse means four things. NC1: the features of a class are alike. NC2: the centred class
means form a simplex equiangular tight frame (ETF). NC3: the rows of the last layer's W are aligned
with them. NC4: the network decides for the nearest class mean. There are C classes of m samples. H1
and H2 are the class means and the deviations from them, <h> is the global mean, b are the biases of
the last layer, and E is the invariant.
"""

from finitewidth.claims import collapse_flow, collapse_networks
from finitewidth.claims.judges import collapse_kernel
from finitewidth.claims.reported import Numbers

CLAIMS = (*collapse_flow.CLAIMS, *collapse_networks.CLAIMS)

NUMBERS: tuple[Numbers, ...] = (
    Numbers(
        artifact="collapse_table1", quantity="multiplicity", find=collapse_kernel.multiplicity,
        scale_free=True, reads={"rows": "collapse_block_kernel.rows"},
    ),
)  # fmt: skip
