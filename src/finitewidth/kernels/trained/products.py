"""Products of the Jacobian of a torch module with vectors, from both sides, for some inputs.

J^T v is a backward pass. J w is a tangent pass in forward mode: the derivative of the outputs in
the direction w of the parameters. Where an operation has no forward mode, J w is the derivative by
v of J^T v, which is linear in v, in the direction w: a second backward pass through the first
(Pearlmutter, "Fast exact multiplication by the Hessian", Neural Computation 6, 1994, has both).
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.func import vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import outputs as returned
from finitewidth.kernels.trained.batches import Batch, joined
from finitewidth.kernels.trained.budget import pieces
from finitewidth.kernels.trained.graph import backward
from finitewidth.kernels.trained.recording import Request, gradients_on, outputs_with

SMALL = 2**18  # numbers in the graph of a batch up to which several vectors are sent back at once
Tangents = Sequence[Tensor]  # (m, ...) for each counted parameter


class FailedError(Exception):
    """No way to compute J w is right; the argument is what went wrong in the last."""


@dataclass(frozen=True, eq=False)
class Products:
    """Products with the Jacobian of a network.

    Attributes:
        request: the network and its parameters.
        forward: the function of request, inputs and tangents that returns J w, (m, n, K).
        vectorise: whether J^T v may be computed for several vectors at once.
    """

    request: Request
    forward: Callable[[Request, Batch, Tangents], Tensor]
    vectorise: bool

    def times(self, x: Batch, tangents: Tangents) -> Tensor:
        """Return J w for m tangents of the parameters, (m, n, K), in the type of the outputs."""
        # the only form of attention with a forward mode
        with sdpa_kernel(SDPBackend.MATH), gradients_on(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="There is a performance drop")
            warnings.filterwarnings("ignore", message=".*torch.jit.script")  # of PyTorch itself
            products = self.forward(self.request, _two_or_more(x), tangents)
        return products.detach()[:, : len(x)]

    def transposed(
        self, x: Batch, vectors: Tensor, add: Callable[[int, list[Tensor]], None]
    ) -> None:
        """Compute J^T v for vectors (m, n, K), and pass each with its number to ``add``."""
        parameters = list(self.request.counted.values())
        with sdpa_kernel(SDPBackend.MATH), gradients_on():
            outputs = checked_outputs(self.request, _two_or_more(x))
            given = outputs.new_zeros(len(vectors), *outputs.shape)
            given[:, : len(x)] = vectors
            at_once = len(given) if self.vectorise else 1
            for part in pieces(len(given), at_once):
                by_parameter = backward(outputs, parameters, given[part])  # (m, ...) each
                for row in range(part.start, part.stop):
                    gradients = []
                    for p, rows in zip(parameters, by_parameter, strict=True):
                        if rows is None:
                            gradients.append(torch.zeros_like(p))
                        else:
                            gradients.append(rows[row - part.start].to_dense())
                    add(row, gradients)


def overflow() -> ConfigError:
    """Return the message for products that are not finite."""
    return ConfigError(
        "network: some of its gradients overflow; convert network and inputs to float64"
    )


def checked_outputs(request: Request, x: Batch) -> Tensor:
    """Return outputs (n, K) of some inputs.

    Raises:
        ConfigError: the network fails, or they are not finite.
    """
    name = "network" if request.of is request.network else "of"
    outputs = returned.outputs_of(request.outputs, name, x)
    returned.check_outputs(outputs, request.outputs, name, x, more=x[:1])
    return outputs


def products_of(request: Request, x: Batch, outputs: int, eps: float, small: bool) -> Products:
    """Return the products of a network by the fastest way that is right for some inputs.

    A way is right if <v, J w> = <J^T v, w> for two random v and w, up to rounding.

    Args:
        request: the network.
        x: a few inputs.
        outputs: K.
        eps: the rounding unit of the type of the lowest precision.
        small: whether the graph of a batch is so small that several vectors are sent back at once.

    Raises:
        ConfigError: no way is right.
    """
    ways = [
        Products(request, _vectorised, small),
        Products(request, _one_by_one, False),
        Products(request, _double_backward, False),
    ]
    reason = ""
    for way in ways:
        try:
            _check_adjoint(way, x, outputs, eps)
        except (torch.OutOfMemoryError, ConfigError):
            raise
        except (FailedError, RuntimeError, NotImplementedError, ValueError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            continue
        return way
    raise ConfigError(
        "network: its gradients can be differentiated neither in forward mode nor twice, so there "
        f"are no products with its kernel ({reason}); use full_kernel"
    )


def _check_adjoint(way: Products, x: Batch, outputs: int, eps: float) -> None:
    """Check that products from both sides belong to one matrix.

    Raises:
        FailedError: they do not.
        ConfigError: gradients overflow.
    """
    stream = torch.Generator().manual_seed(0)
    parameters = list(way.request.counted.values())
    vectors = torch.randn(2, len(x), outputs, generator=stream).to(x.device)
    tangents = [torch.randn(2, *p.shape, generator=stream).to(p) for p in parameters]
    flat: list[Tensor] = []  # J^T v of each v

    def add(_: int, gradients: list[Tensor]) -> None:
        flat.append(torch.cat([part.double().flatten() for part in gradients]))

    way.transposed(x, vectors, add)
    backwards = torch.stack(flat)  # (2, P)
    products = way.times(x, tangents).double()  # (2, n, K)
    if not bool(backwards.isfinite().all()):
        raise overflow()
    flat_tangents = torch.cat([part.double().flatten(1) for part in tangents], dim=1)  # (2, P)
    from_the_right = vectors.double().flatten(1) @ products.flatten(1).mT  # <v, J w>
    from_the_left = backwards @ flat_tangents.mT  # <J^T v, w>
    lengths = backwards.norm(dim=1, keepdim=True)
    if not bool(((from_the_right - from_the_left).abs() <= eps**0.5 * lengths).all()):
        raise FailedError("products from both sides disagree")


def _two_or_more(x: Batch) -> Batch:
    """Return inputs, a single one twice: gradients of one input alone are wrong in some cases."""
    return x if len(x) > 1 else joined([x, x])


def _vectorised(request: Request, x: Batch, tangents: Tangents) -> Tensor:
    """Return J w in forward mode, for all w at once."""
    names = list(request.counted)
    parameters = tuple(p.detach() for p in request.counted.values())

    def outputs(*tensors: Tensor) -> Tensor:
        return _outputs(request, x, names, tensors)

    def along(*directions: Tensor) -> Tensor:
        return torch.func.jvp(outputs, parameters, directions)[1]

    return vmap(along)(*tangents)


def _one_by_one(request: Request, x: Batch, tangents: Tangents) -> Tensor:
    """Return J w in forward mode, for one w after another."""
    names = list(request.counted)
    parameters = [p.detach() for p in request.counted.values()]
    products = []  # (n, K) each
    for directions in zip(*tangents, strict=True):
        with forward_ad.dual_level():
            dual = list(map(forward_ad.make_dual, parameters, directions))
            outputs, tangent = forward_ad.unpack_dual(_outputs(request, x, names, dual))
        products.append(torch.zeros_like(outputs) if tangent is None else tangent.detach())
    return torch.stack(products)


def _outputs(request: Request, x: Batch, names: list[str], tensors: Sequence[Tensor]) -> Tensor:
    return outputs_with(request, dict(zip(names, tensors, strict=True)), x)


def _double_backward(request: Request, x: Batch, tangents: Tangents) -> Tensor:
    """Return J w by differentiating J^T v by v, for one w after another."""
    parameters = list(request.counted.values())
    outputs = checked_outputs(request, x)
    vector = torch.zeros_like(outputs, requires_grad=True)
    by_parameter = torch.autograd.grad(
        outputs, parameters, vector, create_graph=True, allow_unused=True
    )
    gradients = []  # that depend on the vector, with their tangents (m, ...)
    used = []
    for gradient, tangent in zip(by_parameter, tangents, strict=True):
        if getattr(gradient, "grad_fn", None):
            gradients.append(gradient)
            used.append(tangent)
    products = []  # (n, K) each
    for row in range(len(tangents[0])):
        directions = [tangent[row] for tangent in used]
        (product,) = torch.autograd.grad(gradients, vector, directions, retain_graph=True)
        products.append(product)
    return torch.stack(products)
