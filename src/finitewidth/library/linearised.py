"""The linearised network at any time of its training."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, Unpack

import torch
from torch import Tensor, nn

from finitewidth.common.arrays import Array
from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_number
from finitewidth.kernels.trained import Options
from finitewidth.kernels.trained.batches import Inputs, as_batch
from finitewidth.kernels.wide.law import Variance
from finitewidth.library.fixed_kernel import FixedKernel, as_outputs, as_rows
from finitewidth.library.limit_kernel import Law, LimitKernel, kernel_of
from finitewidth.library.linear_training import ClosedForm, Descent, Flow, eigenpairs
from finitewidth.library.posterior import ensemble_variances
from finitewidth.library.targets import as_array, as_targets, check_columns

Loss = Callable[[Tensor, Tensor], Tensor]
TOLERANCE = 1e-8


def linearised(
    network: nn.Module,
    x: Inputs,
    y: Array,
    *,
    loss: Literal["squared", "cross_entropy"] | Loss = "squared",
    kind: Literal["traced", "full", "wide"] = "full",
    from_network: bool | None = None,
    rate: float | None = None,
    tolerance: float = TOLERANCE,
    sigma_w2: Variance | None = None,
    sigma_b2: Variance = 0.0,
    parametrisation: Literal["ntk", "standard"] = "ntk",
    **options: Unpack[Options],
) -> "Linearised":
    """Train the linearised network f_0(x) + J(x) (theta - theta_0), at all times at once.

    J is the Jacobian at the present parameters theta_0. The training is gradient flow, d theta / dt
    = - grad L, or gradient descent, theta <- theta - rate grad L, with all inputs in each step.
    With the kernel Theta = J J^T, outputs for the N training inputs follow df/dt = - Theta grad_f
    L. The squared loss is L = 1/(2N) sum_i |f(x_i) - y_i|^2 and has a closed form, f(t) = y +
    exp(-t Theta / N) (f_0 - y) (Lee et al. 2019, section 2.2, where eta takes the place of 1/N).

    Args:
        network: a torch module in eval mode. Later changes of it do not matter.
        x: training inputs, (N, ...).
        y: targets. "squared": (N, K), or (N,) for one output. "cross_entropy": classes (N,),
            integers from 0, or probabilities (N, K). For a function, what it takes, with one row
            for each input.
        loss: "squared", "cross_entropy" (the mean over inputs), or a function of outputs (N, K) and
            targets that returns a number, differentiable, in torch.
        kind: "full", the linearised network itself, or "traced", where the mean over outputs of
            Theta_kk takes the place of Theta for each output. It needs 1/K^2 of the memory. "wide":
            the limit of infinite width, where Theta is that of `wide_kernel` for each output, and
            outputs are means over starts, f_0 = 0 (Lee et al. 2019, equations 14 and 15).
        from_network: False to leave out f_0. It is taken by default, but not with "wide".
        rate: of gradient descent, whose times are numbers of steps; None for gradient flow.
        tolerance: relative tolerance of gradient flow with losses other than the squared one, which
            ``scipy.integrate.solve_ivp`` integrates (LSODA).
        sigma_w2: with "wide", where it is needed: the variance of a weight times its fan-in; see
            `wide_kernel`.
        sigma_b2: the same for biases.
        parametrisation: with "wide", "ntk" or "standard"; see `wide_kernel`. Times and rates are
            those of training the parameters of this one.
        **options: those of `traced_kernel`.

    Returns:
        The linearised network. It keeps a matrix of N rows, or K N with "full", and float64; the
        eigenvectors are computed with two more. LSODA needs as much for stiff problems.

    Raises:
        ConfigError: an argument is out of range, or shapes do not match; see `traced_kernel`.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> network = torch.nn.Linear(2, 1)  # is linear, so that this is its training itself
        >>> x, y = torch.eye(2), torch.tensor([[1.0], [2.0]])
        >>> line = fw.linearised(network, x, y, rate=0.1)
        >>> for _ in range(100):
        ...     loss = (network(x) - y).square().sum() / (2 * len(x))
        ...     gradients = torch.autograd.grad(loss, [*network.parameters()])
        ...     with torch.no_grad():
        ...         for p, gradient in zip(network.parameters(), gradients):
        ...             _ = p.sub_(0.1 * gradient)
        >>> torch.allclose(line.outputs(x, 100).float(), network(x), atol=1e-4)
        True
        >>> line.outputs(x).round(decimals=6)  # after all steps
        tensor([[1.],
                [2.]], dtype=torch.float64)
    """
    checked_choice("kind", kind, ("traced", "full", "wide"))
    checked_number("tolerance", tolerance, above=0)
    if rate is not None:
        checked_number("rate", rate, above=0)
    if not callable(loss):
        checked_choice("loss", loss, ("squared", "cross_entropy"))
    if not isinstance(network, nn.Module):
        raise ConfigError(f"network: {type(network).__name__} must be a torch module")
    batch = as_batch(network, x)
    kernel = kernel_of(
        network,
        batch,
        kind=kind,
        from_network=kind != "wide" if from_network is None else from_network,
        law=Law(sigma_w2, sigma_b2, parametrisation),
        options=options,
    )
    targets = _targets(y, loss, kernel).to(batch.device).clone()
    columns = len(targets.shape) == 1 and loss == "squared"
    return Linearised(kernel, targets, loss, rate=rate, tolerance=tolerance, one_column=columns)


class Linearised:
    """The linearised network during its training; `linearised` makes one.

    Times are numbers of at least 0: times of gradient flow, or numbers of steps of gradient
    descent. With the squared loss, infinity is the end of training, and the default. Several times
    give results with a first axis of the times. Results are float64. With a loss other than the
    squared one each call integrates, or descends, from time 0: ask for all times at once.

    Attributes:
        eigenvalues: with the squared loss, the eigenvalues of Theta / N in ascending order, those
            that are rounding as 0. The part of the error along an eigenvector decays as
            exp(-eigenvalue t). Descent is stable with a rate below 2 / eigenvalues[-1].
    """

    def __init__(
        self,
        kernel: FixedKernel | LimitKernel,
        targets: Tensor,
        loss: str | Loss,
        *,
        rate: float | None,
        tolerance: float,
        one_column: bool,
    ):
        self._kernel = kernel
        self._targets = targets
        self._one_column = one_column
        self._loss = LOSSES[loss] if isinstance(loss, str) else loss
        self._training: ClosedForm | Flow | Descent
        self._count = len(kernel.x)
        matrix = kernel.matrix()
        start = kernel.start()
        shape = (self._count, kernel.outputs)
        self._start = start if isinstance(start, Tensor) else matrix.new_zeros(shape)
        if loss == "squared":
            columns = targets.double().reshape(shape)
            error = as_rows(columns - self._start, kernel.kind)
            values, vectors = eigenpairs(matrix, kernel.eps)
            self.eigenvalues = values / self._count
            self._training = ClosedForm(values, vectors, error, self._count, rate)
            return
        rows = as_rows(self._start, kernel.kind)
        if rate is None:
            self._training = Flow(matrix, rows, self._gradient, tolerance)
        else:
            self._training = Descent(matrix, rows, self._gradient, rate)

    def outputs(self, x: Inputs, t: float | Sequence[float] = torch.inf) -> Tensor:
        """Return the outputs for any inputs (N', ...) at some times.

        Returns:
            (N', K), or (N',) if targets of the squared loss are (N,); (T, N', K) or (T, N') for T
            times.

        Raises:
            ConfigError: a time is out of range, or has no result; see `KernelRegression.predict`.
        """
        at = self._kernel.at(x)
        outputs = []  # (N', K) at each time
        for coefficients in self._training.coefficients(_times(t)):
            change = as_outputs(at.block @ coefficients, at.count, self._kernel.kind)
            outputs.append(at.start + change)
        return self._shaped(torch.stack(outputs), t)

    def deviations(self, x: Inputs, t: float | Sequence[float] = torch.inf) -> Tensor:
        """Return standard deviations over the starts of infinitely wide networks, at some times.

        With A(t) = Theta(x, X) Theta^-1 (1 - exp(-t Theta / N)) and the NNGP kernel K, they are the
        roots of K(x, x) + A K A^T - A K(X, x) - K(x, X) A^T (Lee et al. 2019, equation 15). All
        outputs of an input have the same.

        Args:
            x: inputs (N', ...).
            t: as for `outputs`.

        Returns:
            As `outputs`.

        Raises:
            ConfigError: the kind is not "wide", or the loss is not the squared one; or see
                `outputs`.
        """
        if not (isinstance(self._kernel, LimitKernel) and isinstance(self._training, ClosedForm)):
            raise ConfigError(
                "deviations: they are those of kind='wide' with loss='squared'; the linearisation "
                "of one network has none, and other losses have no closed form"
            )
        at = self._kernel.at(x, variances=True)
        # the coefficients of an error Theta(X, x) are A^T, (N, N')
        unlearned = replace(self._training, error=at.block.mT)
        deviations = []  # (N',) at each time
        for weights in unlearned.coefficients(_times(t)):
            variances = ensemble_variances(at, weights, self._kernel.start_covariance)
            deviations.append(variances.sqrt())
        shape = (len(deviations), at.count, self._kernel.outputs)
        return self._shaped(torch.stack(deviations)[:, :, None].expand(shape), t)

    def train_outputs(self, t: float | Sequence[float] = torch.inf) -> Tensor:
        """Return the outputs for the training inputs, as `outputs` does."""
        return self._shaped(self._train_outputs(_times(t)), t)

    def loss(self, t: float | Sequence[float] = torch.inf) -> Tensor:
        """Return the loss of the training inputs at some times: a number, or (T,)."""
        losses = [self._value(outputs).detach() for outputs in self._train_outputs(_times(t))]
        return torch.stack(losses) if _several(t) else losses[0]

    def _train_outputs(self, times: list[float]) -> Tensor:
        """The outputs for the training inputs, (T, N, K)."""
        changes = []
        for change in self._training.changes(times):
            changes.append(as_outputs(change, self._count, self._kernel.kind))
        return self._start + torch.stack(changes)

    def _shaped(self, outputs: Tensor, t: float | Sequence[float]) -> Tensor:
        """Outputs (T, N, K) without the axes that the user did not give."""
        if self._one_column:
            outputs = outputs[..., 0]
        return outputs if _several(t) else outputs[0]

    def _value(self, outputs: Tensor) -> Tensor:
        """Return the loss of outputs (N, K)."""
        targets = self._targets
        if self._loss is _squared:
            targets = targets.reshape(outputs.shape)
        value = self._loss(outputs, targets)
        if not isinstance(value, Tensor) or value.numel() != 1:
            raise ConfigError("loss: it must return one number, a tensor, for outputs and targets")
        return value.double().reshape(())

    def _gradient(self, rows: Tensor) -> Tensor:
        """Return the gradient of the loss by outputs, both in the order of the rows."""
        kind = self._kernel.kind
        with torch.inference_mode(False), torch.enable_grad():
            outputs = as_outputs(rows, self._count, kind).clone().requires_grad_()
            value = self._value(outputs)
            if not value.requires_grad:
                raise ConfigError("loss: no gradient arrives at the outputs; compute it in torch")
            (gradient,) = torch.autograd.grad(value, outputs)
        return as_rows(gradient, kind)


def _squared(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs - targets).square().sum() / (2 * len(outputs))


LOSSES: dict[str, Loss] = {
    "squared": _squared,
    "cross_entropy": nn.functional.cross_entropy,
}


def _targets(y: Array, loss: str | Loss, kernel: FixedKernel | LimitKernel) -> Tensor:
    """Return targets in the type that the loss needs."""
    count = len(kernel.x)
    outputs = kernel.outputs
    if not isinstance(loss, str):
        return _targets_of_function(y, count)
    targets = as_targets(y, count)
    if loss == "squared":
        check_columns(targets, outputs, "loss='squared'")
        return targets.double()
    if outputs == 1:
        raise ConfigError("loss: cross_entropy needs a network with an output for each class")
    if targets.dim() == 2:
        check_columns(targets, outputs, "loss='cross_entropy'")
        return targets.double()
    if targets.is_floating_point():
        raise ConfigError("y: classes must be integers, or probabilities (N, K)")
    if targets.min() < 0 or targets.max() >= outputs:
        raise ConfigError(f"y: classes must be 0 to {outputs - 1}, one for each output")
    return targets.long()


def _targets_of_function(y: Array, count: int) -> Tensor:
    """Return the targets of a loss of the user: one row for each of ``count`` inputs."""
    targets = y.detach() if isinstance(y, Tensor) else torch.as_tensor(as_array(y))
    if not targets.dim() or len(targets) != count:
        raise ConfigError(f"y: shape {tuple(targets.shape)} must have {count} rows, as x")
    return targets.double() if targets.is_floating_point() else targets


def _several(t: float | Sequence[float]) -> bool:
    return as_array(t).ndim > 0


def _times(t: float | Sequence[float]) -> list[float]:
    times = as_array(t).astype(float)
    if times.ndim > 1 or not times.size or not (times >= 0).all():
        raise ConfigError(f"t: {t!r} must be a number of at least 0, or several")
    return times.reshape(-1).tolist()
