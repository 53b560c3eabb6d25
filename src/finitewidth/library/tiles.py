"""The tangent kernel of many inputs, tile after tile, in memory or in files."""

import hashlib
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from finitewidth.common.errors import ConfigError, ResultError
from finitewidth.kernels.ntk_init.initialisation import checked_count
from finitewidth.kernels.trained import Options, traced_kernel
from finitewidth.kernels.trained.batches import Batch, Inputs, as_batch
from finitewidth.kernels.trained.budget import BudgetError
from finitewidth.kernels.trained.counted import counted_parameters
from finitewidth.kernels.trained.interface import check_options
from finitewidth.library.modules import cross_kernel
from finitewidth.library.tile_files import KERNEL, Pair, TileFiles, blocks, pairs_of, read_kernel
from finitewidth.records.code import code_digest
from finitewidth.records.result_files import read_json, write_json

TILE = 250
BUDGET = 1536 * 2**20  # bytes: a ResNet-18 and a tile of 250 by 250 images of 32 by 32 pixels
RECORD = "kernel.json"
FIRST = "kernel of the first two inputs"
DIFFERENCES = {
    "inputs": "the inputs are others",
    "parameters": "the parameters have other values",
    "buffers": "the buffers have other values",
    "counted": "other parameters are counted",
    "tile": "tile= is another",
    "check": "check= is another",
    "code": "finitewidth computes kernels in another way",
}
BAR_AFTER = 1.0  # seconds


def tiled_kernel(
    network: nn.Module,
    x: Inputs,
    *,
    tile: int = TILE,
    folder: str | Path | None = None,
    progress: bool = True,
    **options: Unpack[Options],
) -> Tensor:
    """Compute the traced kernel of many inputs, tile after tile.

    Without ``folder`` it needs the memory of the result, and of a call with two blocks of ``tile``
    inputs. With it, each tile is a file, and so is the result. After an interruption, also after a
    kill, the same call computes only what is missing. The folder takes 12 N^2 bytes.

    The command ``finitewidth kernel`` computes the same tiles in several processes, each with one
    thread. Its result has the same bytes after ``torch.set_num_threads(1)``; another number of
    threads, another ``tile`` or another ``budget`` may change the last digits.

    Args:
        network: a torch module in eval mode; see `traced_kernel`.
        x: inputs, (N, ...), as for `traced_kernel`.
        tile: number of inputs of a block.
        folder: where to write the tiles and the result, ``kernel.npy``; None to compute in memory.
            A folder belongs to one kernel: the same parameters, buffers, inputs, options and
            version of the kernels. Only ``budget`` may change.
        progress: whether a bar is shown.
        **options: those of `traced_kernel`; ``budget`` is 1.5 GiB by default.

    Returns:
        Float64, (N, N), on the CPU, exactly symmetric. With ``folder`` its memory is the file: only
        what is used is read, and changes of the tensor are not written.

    Raises:
        ConfigError: ``tile`` is below 1; ``folder`` has other files or belongs to another kernel;
            or see `traced_kernel`.
        FinitewidthError: a file cannot be written. Finished tiles are kept.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> network = torch.nn.Linear(2, 1)  # its kernel is <x, x'> + 1
        >>> fw.tiled_kernel(network, torch.eye(2), tile=1)
        tensor([[2., 1.],
                [1., 2.]], dtype=torch.float64)
    """
    options.setdefault("budget", BUDGET)
    check_options(network, options)
    x = as_batch(network, x)
    parts = checked_blocks(len(x), tile)
    if folder is not None:
        files = TileFiles(Path(folder).expanduser(), parts)
        return _in_files(network, x, files, progress, options)
    kernel = torch.empty(len(x), len(x), dtype=torch.float64)
    for pair in _shown(pairs_of(parts), 0, progress):
        rows, columns = pair
        part = tile_of(network, x, pair, **options)
        kernel[rows, columns] = part
        kernel[columns, rows] = part.mT
    return kernel


def checked_blocks(count: int, tile: int) -> list[slice]:
    """Return the blocks of ``tile`` inputs, the last with fewer, whose pairs are the tiles.

    Raises:
        ConfigError: ``tile`` is below 1.
    """
    return blocks(count, checked_count("tile", tile))


def tile_of(network: nn.Module, x: Batch, pair: Pair, **options: Unpack[Options]) -> Tensor:
    """Compute one tile of the traced kernel of a network in eval mode: float64, (n, m).

    A tile on the diagonal is exactly symmetric.

    Args:
        network: the network.
        x: the inputs of all tiles, (N, ...).
        pair: the inputs of the rows and of the columns.
        **options: those of `traced_kernel`.
    """
    rows, columns = pair
    if rows != columns:
        return cross_kernel(network, x[rows], x[columns], **options)
    upper = traced_kernel(network, x[rows], **options).triu()  # the rest may differ by rounding
    return upper + upper.triu(1).mT


@contextmanager
def budget_in_mib() -> Iterator[None]:
    """Let a budget that is too small name the option of the command, which is in MiB.

    Raises:
        ConfigError: the budget is too small.
    """
    try:
        yield
    except BudgetError as error:
        needed = math.ceil(error.needed / 2**20)
        raise ConfigError(
            f"--budget: {error.what} does not fit; set --budget {needed} or more, or a smaller "
            "--tile"
        ) from None


def _in_files(
    network: nn.Module, x: Batch, files: TileFiles, progress: bool, options: Options
) -> Tensor:
    """Compute the tiles that are missing, and join them; see `tiled_kernel`."""
    if not isinstance(network, nn.Module):
        raise ConfigError(f"network: {type(network).__name__} must be a torch module, with folder=")
    first = traced_kernel(network, x[:2], **options)  # refuses what has no kernel
    record = _record(network, x, files.blocks[0].stop, options)
    _take_folder(files.folder, record, first, _rounding(network))
    square = (len(x), len(x))
    if not _finished(files.kernel, square):
        pairs = pairs_of(files.blocks)
        missing = []
        for pair in pairs:
            if not _finished(files.file(pair), files.shape(pair)):
                missing.append(pair)
        for pair in _shown(missing, len(pairs) - len(missing), progress):
            files.write(pair, tile_of(network, x, pair, **options).numpy(force=True))
        files.join()
    return torch.from_numpy(read_kernel(files.kernel, square, "c"))


def _finished(file: Path, shape: tuple[int, int]) -> bool:
    """Tell whether a file is there; one that is damaged is made again."""
    if not file.exists():
        return False
    try:
        read_kernel(file, shape)
    except ResultError as error:
        warnings.warn(f"made again: {error}", RuntimeWarning, stacklevel=4)
        return False
    return True


def _shown(pairs: Sequence[Pair], done: int, progress: bool) -> Iterator[Pair]:
    """Yield tiles with a bar, if they take time; ``done`` others are finished already."""
    return tqdm(
        pairs,
        desc="tiles",
        total=done + len(pairs),
        initial=done,
        leave=False,
        delay=BAR_AFTER,
        disable=not progress,
    )


def _rounding(network: nn.Module) -> float:
    """Return a relative distance above which kernels differ by more than rounding."""
    types = {p.dtype for p in network.parameters() if p.is_floating_point()}
    return max(torch.finfo(dtype).eps for dtype in types) ** 0.5


def _record(network: nn.Module, x: Batch, tile: int, options: Options) -> dict[str, Any]:
    """Return what the tiles of a folder depend on, with the keys of `DIFFERENCES`."""
    names = x.names or range(len(x.tensors))
    return {
        "inputs": _digest(zip(names, x.tensors, strict=True)),
        "parameters": _digest(network.named_parameters()),
        "buffers": _digest(network.named_buffers()),
        "counted": [*counted_parameters(network, options.get("parameters"))],
        "tile": tile,
        "check": options.get("check", True),
        "code": code_digest(__name__),
    }


def _digest(tensors: Iterable[tuple[Any, Tensor]]) -> str:
    """Return a digest of tensors: their names, shapes, types and numbers."""
    digest = hashlib.sha256()
    for name, tensor in tensors:
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        numbers = tensor.detach().cpu().contiguous().flatten()
        digest.update(numbers.view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _take_folder(folder: Path, record: dict[str, Any], first: Tensor, close: float) -> None:
    """Let a new folder hold a kernel, or see that it holds this one.

    Args:
        folder: the folder.
        record: see `_record`.
        first: the kernel of the first two inputs, for what no record sees: the code of the network
            and of the function ``of``.
        close: relative distance up to which two of these kernels are the same.

    Raises:
        ConfigError: the folder has other files, or the tiles of another kernel.
        ResultError: its record is damaged or cannot be written.
    """
    file = folder / RECORD
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"folder: {folder} is a file; name a folder, for {KERNEL} in it")
    if not file.is_file():
        if folder.is_dir() and _has_files(folder):
            raise ConfigError(f"folder: {folder} has other files; name a new one")
        write_json(file, {**record, FIRST: first.tolist()})
        return
    earlier = read_json(file)
    different = [text for key, text in DIFFERENCES.items() if earlier[key] != record[key]]
    before = torch.tensor(earlier[FIRST], dtype=torch.float64)
    if not different and (first.cpu() - before).norm() > close * before.norm():
        different.append("the network computes something else, or of= is another")
    if different:
        raise ConfigError(
            f"folder: {folder} has tiles of another kernel: {different[0]}; name a new folder, or "
            "delete this one"
        )


def _has_files(folder: Path) -> bool:
    """Whether a folder has files that are not hidden; an interrupted write leaves a hidden one."""
    return any(not file.name.startswith(".") for file in folder.iterdir())
