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
from math import ceil

import torch
from torch import Tensor

from finitewidth.common.shapes import Float
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


def add_gram(total: Float[Tensor, "r c"], rows: Float[Tensor, "n ..."]) -> None:
    """Add rows rows^T, forming little more than the part above the diagonal.

    The rows are (n, ...), the total (n, n); or (r, n - r), the block of the first r rows and the
    other columns.
    """
    count = len(rows)
    rows = rows.flatten(1)
    if total.shape != (count, count):
        first = len(total)
        total += rows[:first] @ rows[first:].mT
        return
    size = max(GRAM_ROWS, ceil(count / GRAM_BLOCKS))
    for block in pieces(count, size):
        part = rows[block] @ rows[block.start :].mT
        _add_symmetric(total, block, part)


def _add_symmetric(total: Float[Tensor, "n n"], block: slice, part: Float[Tensor, "b _"]) -> None:
    """Add rows (b, n - block.start) from the diagonal on, and what follows by symmetry."""
    size = block.stop - block.start
    total[block, block.start :] += part
    total[block.stop :, block] += part[:, size:].mT


def add_squares(total: Float[Tensor, "n k"], rows: Float[Tensor, "n k size"]) -> None:
    """Add the squared lengths (n, k) of rows (n, k, size)."""
    total += rows.square().sum(-1)


def traced_costs(unit: ProductUnit, samples: int, outputs: int) -> tuple[float, float]:
    """Return the costs of the direct and of the structured order for the traced kernel."""
    G, c, D, P = unit.shape
    N = samples
    k = outputs
    gradients = k * N * G * c * D
    # each is a sum over positions, and is multiplied with those of all inputs
    direct = gradients * (P + N + ELEMENT)
    pairs = N**2 * P**2 * G
    structured = pairs * HALF * (D + k * c + ELEMENT)
    return direct, structured


def add_traced(
    total: Float[Tensor, "r c"], unit: ProductUnit, g: Float[Tensor, "N k C P"], work: int
) -> None:
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
    item = g.element_size()
    signals_of_group = k * unit.shape[1]  # for one input and position
    fixed = item * N * P * (D * (G + 1) + signals_of_group)
    per_input = item * 3 * N * P**2
    if structured < direct and fixed + per_input <= work:
        size = fitting(work, per_input, N, unit.name, fixed=fixed)
        _add_traced_structured(total, unit, g, size)
    else:
        _add_traced_direct(total, unit, g, work)


def _add_traced_structured(
    total: Float[Tensor, "r c"], unit: ProductUnit, g: Float[Tensor, "N k C P"], size: int
) -> None:
    """Add sum_pq <a_ip, a_jq> <g_ip, g_jq>, for at most ``size`` inputs i at once."""
    G, c, D, P = unit.shape
    N, k = g.shape[:2]
    rows = len(total)
    symmetric = rows == N
    patches = unit.patches()  # (N, G, D, P)
    if G == P == 1:
        a = patches.view(N, D)
        s = g.reshape(N, k * c)
        columns = slice(0 if symmetric else rows, N)
        total += (a[:rows] @ a[columns].mT).mul_(s[:rows] @ s[columns].mT)
        return
    g = g.view(N, k, G, c, P)
    size = min(size, ceil(rows / PAIR_BLOCKS))
    for group in range(G):
        a = patches[:, group].mT.reshape(N * P, D)
        s = g[:, :, group].permute(0, 3, 1, 2).reshape(N * P, k * c)
        for block in pieces(rows, size):
            left = slice(block.start * P, block.stop * P)
            right = slice((block.start if symmetric else rows) * P, N * P)
            pairs = (a[left] @ a[right].mT).mul_(s[left] @ s[right].mT)  # (b P, n P)
            part = pairs.view(block.stop - block.start, P, -1, P).sum((1, 3))  # (b, n)
            if symmetric:
                _add_symmetric(total, block, part)
            else:
                total[block] += part


def _add_traced_direct(
    total: Float[Tensor, "r c"], unit: ProductUnit, g: Float[Tensor, "N k C P"], work: int
) -> None:
    """Add <r_i, r_j>, the products of gradients, for some channels after another."""
    G, c, D, P = unit.shape
    N, k = g.shape[:2]
    signals = g.view(N, k, G, c, P).transpose(1, 2).reshape(N, G, k * c, P)
    samples, size = _direct_pieces(unit, g, work)
    a = None
    if unit.patch_size and samples == N:
        a = unit.patches().mT  # (N, G, P, D), for all blocks
        cached = CACHED // (N * G * D)
        fewest = ceil(LENGTH / (G * D))
        size = min(size, max(cached, fewest))
    for block in pieces(k * c, size):
        if a is not None:
            rows = signals[:, :, block] @ a  # (N, G, r, D)
        elif samples == N:
            rows = unit.gradients_of(slice(0, N), signals[:, :, block])
        else:
            rows = g.new_empty(N, G, block.stop - block.start, D)
            for inputs in pieces(N, samples):
                patches = unit.patches(inputs).mT  # (n, G, P, D)
                torch.matmul(signals[inputs, :, block], patches, out=rows[inputs])
        add_gram(total, rows)


def _direct_pieces(unit: ProductUnit, g: Float[Tensor, "N k C P"], work: int) -> tuple[int, int]:
    """Return how many inputs have their patches, and how many channels their gradients, at once.

    Half of the space is for patches of all inputs, if they fit. Else they are made anew for each
    block of channels, and are multiplied while they are in the cache.
    """
    G, c, D, _ = unit.shape
    N, k = g.shape[:2]
    item = g.element_size()
    per_input, per_channel = _direct_bytes(unit, N, item)
    left = work // 2
    samples = fitting(work // 2, per_input, N, f"patches of {unit.name!r}")
    if samples < N:
        samples = min(samples, max(1, CACHED // unit.patch_size))
        left = work - samples * per_input
        per_channel = item * N * G * D
    size = fitting(left, per_channel, k * c, f"gradients by {unit.name!r}")
    return samples, size


def _direct_bytes(unit: ProductUnit, samples: int, item: int) -> tuple[int, int]:
    """Return the bytes of the patches of one input, and of the gradients of one channel."""
    G, _, D, _ = unit.shape
    return 2 * item * unit.patch_size, 2 * item * samples * G * D


def traced_bytes(unit: ProductUnit, samples: int, item: int) -> int:
    """Return bytes that suffice for `add_traced`, for any number of outputs."""
    return 2 * max(_direct_bytes(unit, samples, item))


def add_diagonal(
    total: Float[Tensor, "N k"], unit: ProductUnit, g: Float[Tensor, "N k C P"], work: int
) -> None:
    """Add the squared gradients (N, k) by the weights of a product, from signals (N, k, C, P).

    Raises:
        ShortageError: the arrays for one input do not fit into ``work`` bytes.
    """
    G, c, _, P = unit.shape
    N, k = g.shape[:2]
    structured_wins, one = _diagonal_plan(unit, k, g.element_size())
    size = fitting(work, one, N, f"one input at {unit.name!r}")
    for inputs in pieces(N, size):
        n = inputs.stop - inputs.start
        s = g[inputs].view(n, k, G, c, P).transpose(1, 2).reshape(n, G, k * c, P)
        if structured_wins:
            a = unit.patches(inputs)  # (n, G, D, P)
            products = s @ (a.mT @ a)  # (n, G, k c, P): sum_q <a_p, a_q> g_q
            squares = products.mul_(s).sum((1, 3))  # (n, k c)
        else:
            squares = unit.gradients_of(inputs, s).square_().sum((1, 3))
        total[inputs] += squares.view(n, k, c).sum(-1)


def diagonal_bytes(unit: ProductUnit, outputs: int, item: int) -> int:
    """Return the bytes of the arrays of one input in `add_diagonal`, for some outputs at once."""
    return _diagonal_plan(unit, outputs, item)[1]


def _diagonal_plan(unit: ProductUnit, outputs: int, item: int) -> tuple[bool, int]:
    """Return whether the structured order costs less, and the bytes of one input."""
    G, c, D, P = unit.shape
    k = outputs
    direct = k * c * D * (P + ELEMENT)
    structured = P**2 * (D + k * c + ELEMENT) + k * c * P * ELEMENT
    structured_wins = structured < direct
    array = P**2 + 2 * k * c * P if structured_wins else k * c * (D + P)
    return structured_wins, item * G * (2 * D * P + array)


class SignalStore:
    """Signals (G, N, P, c, K) of one unit, kept until those of all outputs are known."""

    def __init__(self, unit: ProductUnit, outputs: int, like: Tensor) -> None:
        G, c, _, P = unit.shape
        self.unit = unit
        self.name = unit.name
        # a layer may compute in another type than the outputs have
        dtypes = (real_dtype(op.edge.node) for op in unit.operations)
        dtype = reduce(torch.promote_types, dtypes)
        self.array = like.new_empty(G, len(like), P, c, outputs, dtype=dtype)

    def put(self, part: slice, of_operation: OfOperation) -> None:
        """Keep the signals of some outputs; those of an operation are (N, k, C, P)."""
        G, c, _, P = self.unit.shape
        g = self.unit.signals(of_operation)
        self.array[..., part] = g.view(len(g), -1, G, c, P).permute(2, 0, 4, 3, 1)

    def add_to(
        self, total: Float[Tensor, "b K n K"], block: slice, columns: slice, work: int
    ) -> None:
        """Add the part of some inputs of the rows and of the columns, (b, K, n, K).

        Columns that start with the first of these rows hold all of them.

        Raises:
            ShortageError: the arrays for one input do not fit into ``work`` bytes.
        """
        G, _, _, P = self.unit.shape
        if G == P == 1:
            self._add_numbers(total, block, columns)
            return
        K = total.shape[1]
        direct, structured = full_plans(self.unit, self.array.shape[1], K)
        size = self._channels_at_once(total, block, columns, work)
        if direct <= structured and size > 0:
            self._add_gradients(total, block, columns, size)
        else:
            self._add_pairs(total, block, columns, work)

    def _add_numbers(self, total: Float[Tensor, "b K n K"], block: slice, columns: slice) -> None:
        """Add <a_i, a_j> <g_ik, g_js>, of one group and position."""
        a = self.unit.patches().flatten(1)  # (N, D)
        g = self.array[0, :, 0].mT  # (N, K, c)
        of_patches = a[block] @ a[columns].mT  # (b, n)
        of_signals = g[block].flatten(0, 1) @ g[columns].flatten(0, 1).mT  # (b K, n K)
        total += of_signals.view(total.shape).mul_(of_patches[:, None, :, None])

    def _channels_at_once(
        self, total: Float[Tensor, "b K n K"], block: slice, columns: slice, work: int
    ) -> int:
        """Return of how many channels the gradients fit, and stay in the cache; 0 if none."""
        G, _, D, P = self.unit.shape
        b, K, n, _ = total.shape
        inputs = n if block.start == columns.start else n + b  # with gradients
        item = self.array.itemsize
        patches = item * n * self.unit.patch_size
        per_channel = 2 * item * inputs * K * G * (D + P)
        fits = (work - patches) // per_channel
        cached = FORMED // (inputs * K * G * D)
        return min(fits, max(1, cached))

    def _add_gradients(
        self, total: Float[Tensor, "b K n K"], block: slice, columns: slice, size: int
    ) -> None:
        b, K, _, _ = total.shape
        a = self.unit.patches(columns).mT if self.unit.patch_size else None
        for channels in pieces(self.unit.shape[1], size):
            right = self._gradients(columns, channels, a)  # (n K, G r D)
            if block.start == columns.start:
                left = right[: b * K]
            else:
                left = self._gradients(block, channels, None)  # (b K, G r D)
            total += (left @ right.mT).view(total.shape)

    def _gradients(
        self, inputs: slice, channels: slice, a: Float[Tensor, "n G P D"] | None
    ) -> Float[Tensor, "n_K size"]:
        """Return the gradients (n K, G r D) of some inputs by r channels.

        ``a`` are the patches (n, G, P, D) of these inputs, if they are made already.
        """
        signals = self.array[:, inputs, :, channels]
        G, n, P, r, K = signals.shape
        g = signals.permute(1, 0, 4, 3, 2).reshape(n, G, K * r, P)
        gradients = self.unit.gradients_of(inputs, g) if a is None else g @ a  # (n, G, K r, D)
        return gradients.view(n, G, K, -1).transpose(1, 2).reshape(n * K, -1)

    def _add_pairs(
        self, total: Float[Tensor, "b K n K"], block: slice, columns: slice, work: int
    ) -> None:
        """Add the products of patches times the products of signals, over pairs of positions."""
        G, c, _, P = self.unit.shape
        b, K, n, _ = total.shape
        fixed, per_pair = _pair_bytes(self.unit, self.array.shape[1], K, self.array.itemsize)
        what = f"pairs of positions at {self.unit.name!r}"
        fits = fitting(work, per_pair, b * n, what, fixed=fixed)
        cached = CACHED // (P * c * K)
        pairs = min(fits, max(n, cached))  # of inputs, at once
        row_blocks = list(pieces(b, max(1, pairs // n)))
        column_blocks = list(pieces(n, min(pairs, n)))
        right = self.unit.patches(columns)  # (n, G, D, P)
        left = right[:b] if block.start == columns.start else self.unit.patches(block)
        for group in range(G):
            of_rows = self.array[group, block]  # (b, P, c, K)
            of_columns = self.array[group, columns]  # (n, P, c, K)
            for rows, others in product(row_blocks, column_blocks):
                part = _products_of_pairs(
                    left[rows, group].mT,
                    of_rows[rows],
                    right[others, group].mT,
                    of_columns[others],
                )
                total[rows, :, others] += part


def _products_of_pairs(
    a_left: Float[Tensor, "n P D"],
    g_left: Float[Tensor, "n P c K"],
    a_right: Float[Tensor, "m P D"],
    g_right: Float[Tensor, "m P c K"],
) -> Float[Tensor, "n K m K"]:
    """Return sum_pq <a_ip, a_jq> <g_ipk, g_jqs> for n inputs i and m inputs j, (n, K, m, K).

    Patches of one group are (n, P, D) and (m, P, D), signals (n, P, c, K) and (m, P, c, K).
    """
    n, P, c, K = g_left.shape
    m = len(g_right)
    # the products with all positions of some inputs, for one of the others after another
    of_patches = a_right.flatten(0, 1) @ a_left.flatten(0, 1).mT  # (m P, n P)
    times_right = of_patches.view(m, P, n * P).mT @ g_right.flatten(2)  # (m, n P, c K)
    times_right = times_right.view(m, n, P * c, K).permute(1, 2, 0, 3)  # (n, P c, m, K)
    times_right = times_right.reshape(n, P * c, m * K)
    products = g_left.view(n, P * c, K).mT @ times_right  # (n, K, m K)
    return products.view(n, K, m, K)


def add_products(
    rows: Float[Tensor, "N K size"],
    total: Float[Tensor, "b K n K"],
    block: slice,
    columns: slice,
    work: int,
) -> None:
    """Add the part of gradients (N, K, size) of a module, see `SignalStore.add_to`."""
    products = rows[block].flatten(0, 1) @ rows[columns].flatten(0, 1).mT
    total += products.view(total.shape)


def put_rows(
    rows: Float[Tensor, "N k size"], unit: ProductUnit, g: Float[Tensor, "N k C P"], work: int
) -> None:
    """Write the gradients (N, k, G c D) of some outputs from their signals (N, k, C, P).

    Raises:
        ShortageError: the arrays for one input do not fit into ``work`` bytes.
    """
    G, c, D, P = unit.shape
    N, k = g.shape[:2]
    g = g.view(N, k, G, c, P).transpose(1, 2)  # (N, G, k, c, P)
    one = rows_bytes(unit, k, g.element_size())
    size = fitting(work, one, N, f"one input at {unit.name!r}")
    if not unit.patch_size:
        size = 1  # gradients of single inputs are copied once less
    for inputs in pieces(N, size):
        n = inputs.stop - inputs.start
        gradients = unit.gradients_of(inputs, g[inputs].reshape(n, G, k * c, P))  # (n, G, k c, D)
        target = rows[inputs].unflatten(2, (G, c, D))  # (n, k, G, c, D)
        target.copy_(gradients.unflatten(2, (k, c)).transpose(1, 2))


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
    patches = 2 * samples * G * D * P
    pair = P * (P + 2 * c * outputs) + outputs**2
    return item * patches, item * pair


def full_plans(
    unit: ProductUnit, samples: int, outputs: int
) -> tuple[tuple[float, int], tuple[float, int]]:
    """Return cost and number of kept elements of the direct and of the structured order.

    Costs are in multiplications. The direct order keeps gradients, the structured one signals.
    """
    G, c, D, P = unit.shape
    N = samples
    K = outputs
    gradients = N * K * G * c * D
    signals = N * K * G * c * P
    # each gradient is a sum over positions, and is multiplied with half of all gradients
    direct_cost = gradients * (P + K * N / 2 + ELEMENT)
    if G == P == 1:  # products of patches and of signals of two inputs are numbers
        return (direct_cost, gradients), ((K * N) ** 2 * (c + ELEMENT), signals)
    # products of patches, (N, P, N, P), and these times signals, for one group
    patches = N**2 * P**2 * (D + K * c)
    # the result (N, P c, N, K) times signals
    products = N**2 * P * c * K * (K + ELEMENT)
    added = (N * K) ** 2 * ELEMENT
    structured_cost = G * (patches + products + added) * HALF
    return (direct_cost, gradients), (structured_cost, signals)
