"""The budget that suffices for the kernel of a torch module, for messages.

Pieces are as small as they can be: one output, one input or one channel at a time.
"""

from finitewidth.kernels.trained.contractions import (
    diagonal_bytes,
    full_plans,
    pairs_bytes,
    rows_bytes,
    traced_bytes,
)
from finitewidth.kernels.trained.graph import graph_size
from finitewidth.kernels.trained.recording import Recording
from finitewidth.kernels.trained.units import ProductUnit, RowUnit


def least_budget(recording: Recording, made: int, per_output: int, what: str) -> int:
    """Return bytes that suffice for a kernel, about as few as possible.

    Args:
        recording: the forward pass.
        made: bytes that a backward sweep makes.
        per_output: bytes of the signals of one output.
        what: "traced", "full", "diagonal" or "norms".
    """
    (N, K), item = recording.outputs.shape, element_size(recording)
    products = [unit for unit in recording.units if isinstance(unit, ProductUnit)]
    if what in ("traced", "diagonal"):
        shares, budget = 2, 2 * max(made + per_output, sum(other_bytes(recording)))
    else:
        shares, budget = 4, 4 * max(made + per_output, full_block_bytes(N, K))
        budget = max(budget, _kept_budget(recording, products))

    def largest(outputs: int) -> int:
        """Return the bytes that one unit takes beside the signals of some outputs."""
        if what == "traced":
            return max((traced_bytes(unit, N, item) for unit in products), default=0)
        of_unit = diagonal_bytes if what == "diagonal" else rows_bytes
        return max((of_unit(unit, outputs, item) for unit in products), default=0)

    while True:
        # with a larger budget, a step has more outputs
        outputs = min(K, (budget // shares - made) // max(per_output, 1))
        needed = shares * largest(outputs)
        if needed <= budget:
            return budget
        budget = needed


def element_size(recording: Recording) -> int:
    """Return the bytes of a number; sums of less precise ones are made in float32."""
    return max(recording.outputs.element_size(), 4)


def full_block_bytes(samples: int, outputs: int) -> int:
    """Return the bytes of the full kernel of one input with all others, and of its products."""
    return 16 * samples * outputs**2


def other_bytes(recording: Recording) -> tuple[int, int]:
    """Return bytes of the gradients of one output by parameters without rules.

    Those of all inputs, which are kept, and those of one input on the way, together with the graph
    that `torch.func.vmap` makes for it.
    """
    if not recording.others:
        return 0, 0
    N, item = len(recording.outputs), element_size(recording)
    size = item * sum(p.numel() for p in recording.others.values())
    graph = item * graph_size(recording.outputs) // N
    return N * size, 3 * size + graph


def row_bytes(recording: Recording) -> int:
    """Return the bytes of all gradients that have no other form than rows."""
    units = [unit for unit in recording.units if isinstance(unit, RowUnit)]
    size = sum(p.numel() for p in recording.others.values())
    size += sum(sum(unit.sizes.values()) for unit in units)
    return element_size(recording) * recording.outputs.numel() * size


def _kept_budget(recording: Recording, products: list[ProductUnit]) -> int:
    """Return a budget in which what the full kernel keeps takes half, and pairs a quarter."""
    (N, K), item = recording.outputs.shape, element_size(recording)
    all_rows = fewest = row_bytes(recording)
    pairs = 0
    for unit in products:
        (_, of_rows), (_, of_signals) = full_plans(unit, N, K)
        all_rows += item * of_rows
        fewest += item * min(of_rows, of_signals)
        if of_signals < of_rows:
            pairs = max(pairs, pairs_bytes(unit, N, K, item))
    return min(2 * all_rows, max(2 * fewest, 4 * pairs))
