"""Gradients of several parameters side by side, since one product is faster than many."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from finitewidth.common.shapes import Float
from finitewidth.kernels.trained.contractions import put_rows
from finitewidth.kernels.trained.row_pieces import put_formed
from finitewidth.kernels.trained.units import OfOperation, ProductUnit, Unit, module_of


@dataclass(frozen=True)
class Columns:
    """The columns of the gradients (N, K, size) of a module that belong to one parameter.

    ``module`` is empty where the kernel is not divided by modules.
    """

    module: str
    columns: slice


def arranged(units: Sequence[Unit], by_layer: bool) -> tuple[dict[str, Columns], dict[str, int]]:
    """Return the columns of each parameter, and the number of columns of each module.

    Without ``by_layer``, all columns belong to the module "".
    """
    columns: dict[str, Columns] = {}
    widths: dict[str, int] = defaultdict(int)
    for unit in units:
        for name, size in unit.sizes.items():
            module = module_of(name) if by_layer else ""
            start = widths[module]
            columns[name] = Columns(module, slice(start, start + size))
            widths[module] += size
    return columns, widths


def write_gradients(
    rows: Mapping[str, Float[Tensor, "N K _"]],
    columns: Mapping[str, Columns],
    unit: Unit,
    part: slice,
    of_operation: OfOperation,
    work: int,
) -> None:
    """Write the gradients of the outputs ``part`` by a unit into rows (N, K, size) of modules.

    Raises:
        ShortageError: the arrays for one input do not fit into ``work`` bytes.
    """
    if isinstance(unit, ProductUnit):
        target = columns[next(iter(unit.sizes))]
        gradients = rows[target.module][:, part, target.columns]
        put_rows(gradients, unit, unit.signals(of_operation), work)
        return
    targets = {}
    for name in unit.parameters:
        target = columns[name]
        targets[name] = rows[target.module][:, part, target.columns]
    put_formed(targets, unit, of_operation, work)
