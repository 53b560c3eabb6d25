"""A device ``cuda`` without a GPU: tensors that say they are on it and compute on the CPU.

What fails on a GPU and not here are kernels of CUDA. What fails on both is all that the project can
do wrong about devices: an operation on tensors of two devices, a random generator of the other
device, and an array made of a tensor that is not on the CPU. Results must be those of the CPU, bit
by bit.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

GPU = torch.device("cuda", 0)
FACTORIES = {
    getattr(torch, name)
    for name in (
        "arange",
        "as_tensor",
        "empty",
        "eye",
        "full",
        "linspace",
        "logspace",
        "ones",
        "rand",
        "randint",
        "randn",
        "randperm",
        "tensor",
        "zeros",
    )
}
# between devices; an index may be on the CPU, and so may a number, a tensor of no dimension
ACROSS = ("aten._to_copy", "aten.copy_", "aten.index.", "aten.index_put", "aten._index_put_impl")


class DevicesDifferError(AssertionError):
    """An operation mixes tensors of two devices."""


class OnGpu(torch.Tensor):
    """A tensor that says it is on a GPU. Its storage has no data; the values are on the CPU."""

    @staticmethod
    def __new__(cls, values: torch.Tensor) -> "OnGpu":
        assert type(values) is torch.Tensor
        assert values.device.type == "cpu"
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            values.shape,
            values.stride(),
            values.storage_offset(),
            dtype=values.dtype,
            device="meta",
            requires_grad=False,
        )
        made.values_on_cpu = values
        return made

    @property
    def device(self) -> torch.device:
        return GPU

    @property
    def is_cuda(self) -> bool:
        return True

    def __repr__(self, **_: Any) -> str:
        return f"OnGpu({self.values_on_cpu!r})"

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        given, tree = tree_flatten((args, kwargs or {}))
        tensors = [each for each in given if isinstance(each, torch.Tensor)]
        across = str(operation).startswith(ACROSS)
        alien = [t for t in tensors if not isinstance(t, cls) and t.dim() > 0]
        if any(t.is_meta for t in alien):  # torch.func.vmap makes them beside a subclass
            raise NotImplementedError(f"{operation}: vmap of pretended tensors")
        if alien and not across:
            raise DevicesDifferError(
                f"{operation}: a tensor {tuple(alien[0].shape)} of "
                f"{alien[0].device} among tensors of {GPU}"
            )
        to = (kwargs or {}).get("device")
        inner = [each.values_on_cpu if isinstance(each, cls) else each for each in given]
        inner = [torch.device("cpu") if isinstance(each, torch.device) else each for each in inner]
        args_, kwargs_ = tree_unflatten(inner, tree)
        with torch.utils._mode_utils.no_dispatch():
            found = operation(*args_, **kwargs_)
        if to is not None and torch.device(to).type == "cpu":
            return found
        known = {
            id(values): each
            for values, each in zip(inner, given, strict=True)
            if isinstance(values, torch.Tensor)
        }

        def wrapped(each: Any) -> Any:
            if not isinstance(each, torch.Tensor):
                return each
            # an operation in place returns what it was given
            return known[id(each)] if id(each) in known else cls(each)

        return tree_map(wrapped, found)


class _Pretending(TorchFunctionMode):
    """Let ``device="cuda"`` make such tensors."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        requested = kwargs.get("device")
        if (
            function in FACTORIES
            and requested is not None
            and torch.device(requested).type == "cuda"
        ):
            generator = kwargs.get("generator")
            assert generator is None, f"{function}: a generator of the CPU for a tensor of the GPU"
            return OnGpu(function(*args, **kwargs | {"device": "cpu"}))
        if function is torch.Tensor.tolist and isinstance(args[0], OnGpu):
            return args[0].cpu().tolist()  # which torch refuses to do for subclasses
        if function is torch.Tensor.to and len(args) > 1 and isinstance(args[1], OnGpu):
            # to the device and the type of another tensor
            return self.__torch_function__(function, types, (args[0], GPU, args[1].dtype))
        if function is torch.Tensor.to:
            return _moved(args[0], args[1:], kwargs)
        return function(*args, **kwargs)


def _moved(tensor: torch.Tensor, args: tuple, kwargs: dict) -> torch.Tensor:
    """What ``tensor.to(*args, **kwargs)`` returns."""
    places = [a for a in (*args, *kwargs.values()) if isinstance(a, str | torch.device)]
    if not places or torch.device(places[0]).type != "cuda":
        return torch.Tensor.to(tensor, *args, **kwargs)
    args = tuple(a for a in args if not isinstance(a, str | torch.device))
    kwargs = {k: v for k, v in kwargs.items() if k != "device"}
    if isinstance(tensor, OnGpu):
        return torch.Tensor.to(tensor, *args, **kwargs) if args or kwargs else tensor
    moved = tensor.detach()
    return OnGpu((torch.Tensor.to(moved, *args, **kwargs) if args or kwargs else moved).clone())


def _module_to(module: torch.nn.Module, *args: Any, **kwargs: Any) -> torch.nn.Module:
    """What ``module.to(*args, **kwargs)`` does, which asks the storage for the device."""
    if not (len(args) == 1 and isinstance(args[0], OnGpu)):
        return _TO(module, *args, **kwargs)
    return module._apply(
        lambda tensor: _moved(tensor, (GPU,), {}).to(
            args[0].dtype if tensor.is_floating_point() else tensor.dtype
        )
    )


_TO = torch.nn.Module.to


@contextlib.contextmanager
def pretended_gpu(monkeypatch: Any) -> Iterator[None]:
    """Let torch find a GPU, and make tensors of it, within the block."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda *_: "no GPU, only pretended")
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda *_: (2**36, 2**37))
    monkeypatch.setattr("torch.nn.Module.to", _module_to)
    with _Pretending():
        yield
