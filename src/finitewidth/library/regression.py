"""Regression with the tangent kernel of the user's own network."""

from typing import Unpack

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import Options, full_kernel, traced_kernel
from finitewidth.library.modules import cross_kernel


class KernelRegression:
    """Predictions of the linearised network, trained to the end on squared errors.

    f(x) = f_0(x) + Theta(x, X) (Theta(X, X) + ridge)^-1 (y - f_0(X)), where f_0 is the network.
    Without ``from_network``, f_0 = 0: this is regression with the kernel alone.

    Args:
        network: a torch module in eval mode.
        kind: "traced" takes the mean over outputs of Theta_kk as the kernel of every output;
            "full" takes all pairs of outputs, which is the linearised network itself.
        ridge: added to the diagonal of the kernel, >= 0.
        from_network: whether f_0 is the network.
        **options: see `finitewidth.kernels.trained.Options`.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> _ = torch.manual_seed(0)
        >>> from torch.nn import Linear, ReLU, Sequential
        >>> net = Sequential(Linear(2, 200), ReLU(), Linear(200, 1))
        >>> x = torch.randn(30, 2)
        >>> model = fw.KernelRegression(net).fit(x, x[:, :1] * x[:, 1:])
        >>> model.predict(torch.randn(5, 2)).shape
        torch.Size([5, 1])
    """

    def __init__(
        self,
        network: nn.Module,
        *,
        kind: str = "traced",
        ridge: float = 0.0,
        from_network: bool = False,
        **options: Unpack[Options],
    ):
        if kind not in ("traced", "full"):
            raise ConfigError(f"kind: {kind!r} must be one of traced, full")
        if not ridge >= 0:
            raise ConfigError(f"ridge = {ridge!r}: must be a number of at least 0")
        self.network, self.kind, self.ridge = network, kind, ridge
        self.from_network, self.options = from_network, options

    def fit(self, x: Tensor, y: Tensor) -> "KernelRegression":
        """Solve for the coefficients.

        Args:
            x: inputs (N, ...).
            y: targets (N, K); one-hot labels for classes.

        Raises:
            ConfigError: the shapes do not match, or the kernel is singular and ``ridge`` is 0.
        """
        if y.dim() != 2 or len(y) != len(x):
            raise ConfigError(f"y: shape {tuple(y.shape)} must be ({len(x)}, K)")
        self.x, self.outputs = x, y.shape[1]
        residual = y.double() - self._start(x)
        if self.kind == "traced":
            theta = traced_kernel(self.network, x, **self.options) / self.outputs
            self.coefficients = _solved(theta, residual, self.ridge)
        else:
            theta = full_kernel(self.network, x, **self.options)
            size = self.outputs * len(x)
            flat = residual.T.reshape(size, 1)  # (output, input), as the kernel
            self.coefficients = _solved(theta.reshape(size, size), flat, self.ridge)
        return self

    def predict(self, x: Tensor) -> Tensor:
        """Return predictions (N', K), float64."""
        if not hasattr(self, "coefficients"):
            raise ConfigError("the regression has no coefficients yet; call fit first")
        theta = cross_kernel(self.network, x, self.x, kind=self.kind, **self.options)
        if self.kind == "traced":
            return self._start(x) + theta / self.outputs @ self.coefficients
        rows = theta.reshape(self.outputs * len(x), -1) @ self.coefficients
        return self._start(x) + rows.reshape(self.outputs, len(x)).T

    def _start(self, x: Tensor) -> Tensor:
        if not self.from_network:
            return torch.zeros(len(x), self.outputs, dtype=torch.float64)
        with torch.no_grad():
            return self.network(x).double()


def _solved(theta: Tensor, right: Tensor, ridge: float) -> Tensor:
    regular = theta + ridge * torch.eye(len(theta), dtype=theta.dtype, device=theta.device)
    factor, info = torch.linalg.cholesky_ex(regular)
    if info.item():
        raise ConfigError(
            f"ridge = {ridge:g}: the kernel of {len(theta)} rows is singular; give a larger ridge"
        )
    return torch.cholesky_solve(right.to(theta), factor)
