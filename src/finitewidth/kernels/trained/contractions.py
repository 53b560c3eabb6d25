"""Parts of the kernel of one unit of parameters, in the cheaper of two orders of contraction.

With patches a (N, G, D, P), signals g (N, k, G, c, P) of k outputs, and gradients ("rows")
r_i = sum_p g_ip a_ip^T (k, G, c, D) of input i, the products of two gradients can be taken

    direct:      as <r_i, r_j>, after the rows have been made
    structured:  as sum_pq <a_ip, a_jq> <g_ip, g_jq>, without making them

For the full kernel, signals are also kept where all gradients do not fit; these are then made for
some channels after another.

The structured order wins where the positions are few and the weights many, as in dense layers and
in the late layers of a VGG; the direct order wins in early convolutions. The idea is that of Novak,
Sohl-Dickstein and Schoenholz, "Fast Finite Width Neural Tangent Kernel" (ICML 2022). Costs are
counted in multiplications. An element of an intermediate array counts as `ELEMENT` of them,
because it is written and read.
"""

from functools import reduce
from itertools import product

import torch
from torch import Tensor

from finitewidth.kernels.trained.budget import fitting, pieces
from finitewidth.kernels.trained.operations import real_dtype
from finitewidth.kernels.trained.units import OfOperation, ProductUnit

ELEMENT = 24  # measured on ResNet20 and VGG11, one core
HALF = 0.8  # share of the pairs of inputs that are formed; each costs more than in direct order
GRAM_BLOCKS = 8  # at most, so that little more than half of a symmetric matrix is formed
PAIR_BLOCKS = 4  # the same for pairs of positions
CACHED = 2**20  # numbers of gradients that are made and used while they are in the cache
FORMED = 4 * CACHED  # the same, where they are multiplied with those of all other outputs
LENGTH = 2048  # at least of rows that are multiplied, as far as they fit: a result is added up once
GRAM_ROWS = 48  # at least in a block, because products of few rows are slow


def add_gram(total: Tensor, rows: Tensor) -> None:
    """Add rows rows^T, forming little more than the part above the diagonal.

    The rows are (n, ...), the total (n, n); or (r, n - r), the block of the first r rows and the
    other columns.
    """
    rows, count = rows.flatten(1), len(rows)
    if total.shape != (count, count):
        total += rows[: len(total)] @ rows[len(total) :].mT
        return
    size = max(GRAM_ROWS, -(-count // GRAM_BLOCKS))
    for block in pieces(count, size):
        part = rows[block] @ rows[block.start :].mT
        total[block, block.start :] += part
        total[block.stop :, block] += part[:, block.stop - block.start :].mT


def add_squares(total: Tensor, rows: Tensor) -> None:
    """Add the squared lengths (n, k) of rows (n, k, size)."""
    total += rows.square().sum(-1)


def traced_costs(unit: ProductUnit, samples: int, outputs: int) -> tuple[float, float]:
    """Return the costs of the direct and of the structured order for the traced kernel."""
    (G, c, D, P), N = unit.shape, samples
    rows = outputs * N * G * c * D
    pairs = N**2 * P**2 * G
    return rows * (P + N + ELEMENT), pairs * HALF * (D + outputs * c + ELEMENT)


def add_traced(total: Tensor, unit: ProductUnit, g: Tensor, work: int) -> None:
    """Add the sum over outputs of the products of gradients by the weights of a product.

    The total is (N, N), or (r, N - r) as in `add_gram`, the signals of some outputs (N, k, C, P).

    Raises:
        ShortageError: the patches of one input, or the gradients by one channel, do not fit into
            ``work`` bytes.
    """
    N, k = g.shape[:2]
    direct, structured = traced_costs(unit, N, k)
    G, _, D, P = unit.shape
    # patches, patches and signals of a group, and the pairs of positions with one input
    fixed = g.element_size() * N * P * (D * (G + 1) + g[0, ..., 0].numel() // G)
    per_input = g.element_size() * 3 * N * P**2
    if structured < direct and fixed + per_input <= work:
        size = fitting(work, per_input, N, unit.name, fixed=fixed)
        _add_traced_structured(total, unit, g, size)
    else:
        _add_traced_direct(total, unit, g, work)


def _add_traced_structured(total: Tensor, unit: ProductUnit, g: Tensor, size: int) -> None:
    G, c, D, P = unit.shape
    N, k = g.shape[:2]
    patches = unit.patches()
    rows = len(total)
    symmetric = rows == N
    if G == P == 1:
        a, s = patches.view(N, D), g.reshape(N, k * c)
        columns = slice(0 if symmetric else rows, None)
        total += (a[:rows] @ a[columns].mT).mul_(s[:rows] @ s[columns].mT)
        return
    g = g.view(N, k, G, c, P)
    for group in range(G):
        a = patches[:, group].mT.reshape(N * P, D)
        s = g[:, :, group].permute(0, 3, 1, 2).reshape(N * P, k * c)
        for block in pieces(rows, min(size, -(-rows // PAIR_BLOCKS))):
            here = slice(block.start * P, block.stop * P)
            rest = slice((block.start if symmetric else rows) * P, None)
            pairs = (a[here] @ a[rest].mT).mul_(s[here] @ s[rest].mT)
            part = pairs.view(block.stop - block.start, P, -1, P).sum((1, 3))
            if symmetric:
                total[block, block.start :] += part
                total[block.stop :, block] += part[:, block.stop - block.start :].mT
            else:
                total[block] += part


def _add_traced_direct(total: Tensor, unit: ProductUnit, g: Tensor, work: int) -> None:
    G, c, D, P = unit.shape
    N, k = g.shape[:2]
    item = g.element_size()
    signals = g.view(N, k, G, c, P).transpose(1, 2).reshape(N, G, k * c, P)
    per_input, per_channel = _direct_bytes(unit, N, item)
    samples = fitting(work // 2, per_input, N, f"patches of {unit.name!r}")
    if samples < N:
        # patches are made anew for each block, and are multiplied while they are in the cache
        samples = min(samples, max(1, CACHED // unit.patch_size))
        left = work - samples * per_input
        per_channel = item * (N + samples) * G * D
    else:
        left = work // 2
    size = fitting(left, per_channel, k * c, f"gradients by {unit.name!r}")
    keeps_patches = unit.patch_size > 0 and samples == N
    if keeps_patches:
        a = unit.patches().mT  # (N, G, P, D)
        cached = CACHED // (N * G * D)
        fewest = -(-LENGTH // (G * D))
        size = min(size, max(cached, fewest))
    for block in pieces(k * c, size):
        if keeps_patches:
            rows = signals[:, :, block] @ a  # (N, G, r, D)
        elif samples == N:
            rows = unit.gradients_of(slice(0, N), signals[:, :, block])
        else:
            rows = g.new_empty(N, G, block.stop - block.start, D)
            for some in pieces(N, samples):
                a = unit.patches(some).mT  # (n, G, P, D)
                torch.matmul(signals[some, :, block], a, out=rows[some])
        add_gram(total, rows)


def _direct_bytes(unit: ProductUnit, samples: int, item: int) -> tuple[int, int]:
    """Return the bytes of the patches of one input, and of the gradients of one channel."""
    G, _, D, _ = unit.shape
    return 2 * item * unit.patch_size, 2 * item * samples * G * D


def traced_bytes(unit: ProductUnit, samples: int, item: int) -> int:
    """Return bytes that suffice for `add_traced`, for any number of outputs."""
    return 2 * max(_direct_bytes(unit, samples, item))


def add_diagonal(total: Tensor, unit: ProductUnit, g: Tensor, work: int) -> None:
    """Add the squared gradients (N, k) by the weights of a product, from signals (N, k, C, P).

    Raises:
        ShortageError: the arrays for one input do not fit into ``work`` bytes.
    """
    G, c, _, P = unit.shape
    N, k = g.shape[:2]
    structured_wins, one = _diagonal_plan(unit, k, g.element_size())
    for some in pieces(N, fitting(work, one, N, f"one input at {unit.name!r}")):
        s = g[some].view(-1, k, G, c, P).transpose(1, 2).reshape(-1, G, k * c, P)
        if structured_wins:
            a = unit.patches(some)
            products = (s @ (a.mT @ a)).mul_(s).sum((1, 3))
        else:
            products = unit.gradients_of(some, s).square_().sum((1, 3))
        total[some] += products.reshape(len(s), k, -1).sum(-1)


def diagonal_bytes(unit: ProductUnit, outputs: int, item: int) -> int:
    """Return the bytes of the arrays of one input in `add_diagonal`, for some outputs at once."""
    return _diagonal_plan(unit, outputs, item)[1]


def _diagonal_plan(unit: ProductUnit, outputs: int, item: int) -> tuple[bool, int]:
    """Return whether the structured order costs less, and the bytes of one input."""
    (G, c, D, P), k = unit.shape, outputs
    direct = k * c * D * (P + ELEMENT)
    structured = P**2 * (D + k * c + ELEMENT) + k * c * P * ELEMENT
    structured_wins = structured < direct
    array = P**2 + 2 * k * c * P if structured_wins else k * c * (D + P)
    return structured_wins, item * G * (2 * D * P + array)


class SignalStore:
    """Signals (G, N, P, c, K) of one unit, kept until those of all outputs are known."""

    def __init__(self, unit: ProductUnit, outputs: int, like: Tensor) -> None:
        G, c, _, P = unit.shape
        self.unit, self.name = unit, unit.name
        # a layer may compute in another type than the outputs have
        dtypes = (real_dtype(op.edge.node) for op in unit.operations)
        dtype = reduce(torch.promote_types, dtypes)
        self.array = like.new_empty(G, len(like), P, c, outputs, dtype=dtype)

    def put(self, part: slice, of_operation: OfOperation) -> None:
        """Keep the signals of some outputs; those of an operation are (N, k, C, P)."""
        G, c, _, P = self.unit.shape
        g = self.unit.signals(of_operation)
        self.array[..., part] = g.view(len(g), -1, G, c, P).permute(2, 0, 4, 3, 1)

    def add_to(self, total: Tensor, block: slice, columns: slice, work: int) -> None:
        """Add the part of some inputs of the rows and of the columns, (b, K, n, K).

        Columns that start with the first of these rows hold all of them.

        Raises:
            ShortageError: the arrays for one input do not fit into ``work`` bytes.
        """
        G, _, _, P = self.unit.shape
        if G == P == 1:
            a, s = self.unit.patches().flatten(1), self.array[0, :, 0].mT
            products = s[block].flatten(0, 1) @ s[columns].flatten(0, 1).mT
            A = a[block] @ a[columns].mT
            total += products.view(total.shape).mul_(A[:, None, :, None])
            return
        (G, _, D, P), (_, K, N, _) = self.unit.shape, total.shape
        direct, structured = full_plans(self.unit, self.array.shape[1], K)
        item = self.array.itemsize
        formed = N if block.start == columns.start else N + len(total)  # gradients of inputs
        fixed, per_channel = item * N * self.unit.patch_size, 2 * item * formed * K * G * (D + P)
        # gradients of as many channels as fit and stay in the cache
        size = min((work - fixed) // per_channel, max(1, FORMED // (formed * K * G * D)))
        if direct <= structured and size > 0:
            self._add_gradients(total, block, columns, size)
        else:
            self._add_pairs(total, block, columns, work)

    def _add_gradients(self, total: Tensor, block: slice, columns: slice, size: int) -> None:
        b, K, _, _ = total.shape
        a = self.unit.patches(columns).mT if self.unit.patch_size else None
        for channels in pieces(self.unit.shape[1], size):
            right = self._gradients(columns, channels, a)
            if block.start == columns.start:
                left = right[: b * K]
            else:
                left = self._gradients(block, channels, None)
            total += (left @ right.mT).view(total.shape)

    def _gradients(self, inputs: slice, channels: slice, a: Tensor | None) -> Tensor:
        """Return the gradients (n K, ..) of some inputs by some channels; a are their patches."""
        G, _, _, P = self.unit.shape
        signals = self.array[:, inputs, :, channels]  # (G, n, P, c, K)
        n, K = signals.shape[1], signals.shape[-1]
        g = signals.permute(1, 0, 4, 3, 2).reshape(n, G, -1, P)
        formed = self.unit.gradients_of(inputs, g) if a is None else g @ a
        return formed.view(n, G, K, -1).transpose(1, 2).reshape(n * K, -1)

    def _add_pairs(self, total: Tensor, block: slice, columns: slice, work: int) -> None:
        """Add the products of patches times the products of signals, over pairs of positions."""
        G, c, D, P = self.unit.shape
        b, K, N, _ = total.shape
        fixed, per_pair = _pair_bytes(self.unit, self.array.shape[1], K, self.array.itemsize)
        what = f"pairs of positions at {self.unit.name!r}"
        fits = fitting(work, per_pair, b * N, what, fixed=fixed)
        pairs = min(fits, max(N, CACHED // (P * c * K)))  # of inputs, at once
        row_blocks = list(pieces(b, max(1, pairs // N)))
        column_blocks = list(pieces(N, min(pairs, N)))
        right = self.unit.patches(columns)
        left = right[:b] if block.start == columns.start else self.unit.patches(block)
        for group, rows, some in product(range(G), row_blocks, column_blocks):
            a_left, a_right = left[rows, group].mT, right[some, group].mT  # (n, P, D)
            s_left = self.array[group, block][rows]  # (n, P, c, K)
            s_right = self.array[group, columns][some]
            n, m = len(s_left), len(s_right)
            # the products with all positions of some inputs, for one of the others after another
            A = a_right.reshape(m * P, D) @ a_left.reshape(n * P, D).mT  # (m P, n P)
            behind = A.view(m, P, n * P).mT @ s_right.flatten(2)  # (m, n P, c K)
            behind = behind.view(m, n, P * c, K).permute(1, 2, 0, 3)  # (n, P c, m, K)
            behind = behind.reshape(n, P * c, m * K)
            part = s_left.view(n, P * c, K).mT @ behind  # (n, K, m K)
            total[rows, :, some] += part.view(n, K, m, K)


def add_products(rows: Tensor, total: Tensor, block: slice, columns: slice, work: int) -> None:
    """Add the part of gradients (N, K, size) of a module, see `SignalStore.add_to`."""
    products = rows[block].flatten(0, 1) @ rows[columns].flatten(0, 1).mT
    total += products.view(total.shape)


def put_rows(rows: Tensor, unit: ProductUnit, g: Tensor, work: int) -> None:
    """Write the gradients (N, k, G c D) of some outputs from their signals (N, k, C, P).

    Raises:
        ShortageError: the arrays for one input do not fit into ``work`` bytes.
    """
    G, c, D, P = unit.shape
    N, k = g.shape[:2]
    g = g.view(N, k, G, c, P).transpose(1, 2)
    one = rows_bytes(unit, k, g.element_size())
    size = fitting(work, one, N, f"one input at {unit.name!r}")
    if not unit.patch_size:
        size = 1  # gradients of single inputs are copied once less
    for some in pieces(N, size):
        formed = unit.gradients_of(some, g[some].reshape(some.stop - some.start, G, k * c, P))
        kept = rows[some].unflatten(2, (G, c, D))
        kept.copy_(formed.unflatten(2, (k, c)).transpose(1, 2))


def rows_bytes(unit: ProductUnit, outputs: int, item: int) -> int:
    """Return the bytes of the arrays of one input in `put_rows`, for some outputs at once."""
    G, c, D, P = unit.shape
    return item * G * (2 * D * P + outputs * c * (D + P))


def pairs_bytes(unit: ProductUnit, samples: int, outputs: int, item: int) -> int:
    """Return the bytes that the structured order of the full kernel takes for one input."""
    return sum(_pair_bytes(unit, samples, outputs, item))


def _pair_bytes(unit: ProductUnit, samples: int, outputs: int, item: int) -> tuple[int, int]:
    """Return the bytes of the patches, and of all pairs of positions of two inputs."""
    G, c, D, P = unit.shape
    return item * 2 * samples * G * D * P, item * (P * (P + 2 * c * outputs) + outputs**2)


def full_plans(
    unit: ProductUnit, samples: int, outputs: int
) -> tuple[tuple[float, int], tuple[float, int]]:
    """Return cost and number of kept elements of the direct and of the structured order.

    Costs are in multiplications. The direct order keeps gradients, the structured one signals.
    """
    G, c, D, P = unit.shape
    N, K = samples, outputs
    gradients = N * K * G * c * D
    signals = N * K * G * c * P
    # each gradient is a sum over positions, and is multiplied with half of all gradients
    direct_cost = gradients * (P + K * N / 2 + ELEMENT)
    if G == P == 1:  # products of patches and of signals of two inputs are numbers
        structured_cost = (K * N) ** 2 * (c + ELEMENT)
        return (direct_cost, gradients), (structured_cost, signals)
    # products of patches, (N, P, N, P), and these times signals, for one group
    patches = N**2 * P**2 * (D + K * c)
    # the result (N, P c, N, K) times signals
    products = N**2 * P * c * K * (K + ELEMENT)
    added = (N * K) ** 2 * ELEMENT
    structured_cost = G * (patches + products + added) * HALF
    return (direct_cost, gradients), (structured_cost, signals)
