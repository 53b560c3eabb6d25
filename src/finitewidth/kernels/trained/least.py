"""The budget that suffices for the kernel of a torch module, for messages.

Pieces are as small as they can be: one output, one input or one channel at a time.
"""

from math import prod

from finitewidth.kernels.trained.budget import ShortageError
from finitewidth.kernels.trained.contractions import (
    diagonal_bytes,
    full_plans,
    pairs_bytes,
    rows_bytes,
    traced_bytes,
)
from finitewidth.kernels.trained.graph import children_first, graph_size, root_of
from finitewidth.kernels.trained.recording import Recording
from finitewidth.kernels.trained.row_pieces import formed_bytes
from finitewidth.kernels.trained.units import ProductUnit, RowUnit, Unit


def least_budget(recording: Recording, made: int, per_output: int, what: str) -> int:
    """Return bytes that suffice for a kernel, about as few as possible.

    Args:
        recording: the forward pass.
        made: bytes that a backward sweep makes.
        per_output: bytes of the signals of one output.
        what: "traced", "full", "diagonal" or "norms".
    """
    N, K = recording.outputs.shape
    item = element_size(recording)
    products = [unit for unit in recording.units if isinstance(unit, ProductUnit)]
    if what in ("traced", "diagonal"):
        shares = 2
        budget = shares * max(made + per_output, sum(other_bytes(recording)))
    else:
        shares = 4
        budget = shares * max(made + per_output, full_block_bytes(N, K))
        budget = max(budget, _kept_budget(recording))

    derived = [unit for unit in recording.units if isinstance(unit, RowUnit)]
    columns = 1 if what == "traced" else 0  # only gradients of one input are kept on the way
    of_derived = [formed_bytes(unit, N, columns, item) for unit in derived]

    def largest(outputs: int) -> int:
        """Return the bytes that one unit takes beside the signals of some outputs."""
        if what == "traced":
            of_products = [traced_bytes(unit, N, item) for unit in products]
        else:
            of_unit = diagonal_bytes if what == "diagonal" else rows_bytes
            of_products = [of_unit(unit, outputs, item) for unit in products]
        return max(of_derived + of_products, default=0)

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
    N = len(recording.outputs)
    item = element_size(recording)
    size = item * sum(p.numel() for p in recording.others.values())
    graph = item * graph_size(children_first(root_of(recording.outputs))) // N
    return N * size, 3 * size + graph


def row_bytes(recording: Recording) -> int:
    """Return the bytes of all gradients that have no other form than rows."""
    units = [unit for unit in recording.units if not has_signals(unit)]
    size = sum(p.numel() for p in recording.others.values())
    size += sum(sum(unit.sizes.values()) for unit in units)
    return element_size(recording) * recording.outputs.numel() * size


def has_signals(unit: Unit) -> bool:
    """Tell whether signals may be kept for the full kernel in place of gradients."""
    return isinstance(unit, ProductUnit) or not unit.arranged


def unit_plans(
    unit: Unit, samples: int, outputs: int
) -> tuple[tuple[float, int], tuple[float, int]]:
    """Return cost and number of kept elements with gradients and with signals, see `full_plans`.

    Gradients that have to be formed are kept wherever they fit.
    """
    if isinstance(unit, ProductUnit):
        return full_plans(unit, samples, outputs)
    kept = sum(prod(op.kept) for op in unit.operations)
    gradients = samples * outputs * sum(unit.sizes.values())
    return (0.0, gradients), (1.0, samples * outputs * kept)


def structured_units(recording: Recording, share: int, work: int) -> list[Unit]:
    """Choose the units whose signals are kept, and not their gradients, for the full kernel.

    The cheaper order is chosen for each, as far as what is kept fits into ``share`` bytes, and what
    is made on the way into ``work``.

    Raises:
        ShortageError: even what takes the least does not fit.
    """
    N, K = recording.outputs.shape
    item = element_size(recording)
    units = [unit for unit in recording.units if has_signals(unit)]
    plans = [unit_plans(unit, N, K) for unit in units]
    fits = [signals_bytes(unit, N, K, item) <= work for unit in units]
    chosen = []
    for fit, (with_gradients, with_signals) in zip(fits, plans, strict=True):
        chosen.append(fit and with_signals[0] < with_gradients[0])

    def kept(at: int, structured: bool) -> int:
        """Return the bytes that are kept of a unit, in the structured or the direct order."""
        return item * plans[at][structured][1]

    needed = row_bytes(recording)
    savings = []  # by the other order
    for at, structured in enumerate(chosen):
        needed += kept(at, structured)
        if fits[at]:
            saved = kept(at, structured) - kept(at, not structured)
            savings.append((saved, at))
    for saved, at in sorted(savings, reverse=True):
        if needed > share and saved > 0:
            chosen[at] = not chosen[at]
            needed -= saved
    if needed > share:
        raise ShortageError("what the full kernel keeps")
    return [unit for unit, structured in zip(units, chosen, strict=True) if structured]


def signals_bytes(unit: Unit, samples: int, outputs: int, item: int) -> int:
    """Return the bytes on the way if signals are kept, and not gradients."""
    if isinstance(unit, ProductUnit):
        return pairs_bytes(unit, samples, outputs, item)
    return formed_bytes(unit, samples, outputs, item)


def _kept_budget(recording: Recording) -> int:
    """Return a budget in which what the full kernel keeps takes half, and pairs a quarter."""
    N, K = recording.outputs.shape
    item = element_size(recording)
    all_rows = fewest = row_bytes(recording)
    on_the_way = 0
    for unit in recording.units:
        if not has_signals(unit):
            continue
        (_, of_rows), (_, of_signals) = unit_plans(unit, N, K)
        all_rows += item * of_rows
        fewest += item * min(of_rows, of_signals)
        if of_signals < of_rows:
            on_the_way = max(on_the_way, signals_bytes(unit, N, K, item))
    return min(2 * all_rows, max(2 * fewest, 4 * on_the_way))
