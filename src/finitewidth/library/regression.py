"""Regression with the tangent kernel of the user's own network, as an estimator of scikit-learn."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import sklearn.exceptions
import torch
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, validate_data
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_number
from finitewidth.kernels.trained import DEFAULT_BUDGET, full_kernel, traced_kernel
from finitewidth.kernels.trained.batches import Inputs, as_inputs
from finitewidth.kernels.trained.inputs import check_tensor
from finitewidth.kernels.trained.interface import output_count
from finitewidth.kernels.trained.recording import gradients_on
from finitewidth.kernels.trained.surroundings import unchanged_surroundings
from finitewidth.library.modules import cross_kernel

# Options of the kernels; those at their defaults are not passed on.
OPTIONS = {"of": None, "parameters": None, "budget": DEFAULT_BUDGET, "check": True}
BATCH = 256  # inputs for one forward pass


class NotFittedError(ConfigError, sklearn.exceptions.NotFittedError):
    """`KernelRegression.predict` was called before `KernelRegression.fit`."""


class KernelRegression(RegressorMixin, BaseEstimator):
    """Predictions of the linearised network, trained to the end on squared errors.

    f(x) = f_0(x) + Theta(x, X) (Theta(X, X) + ridge)^-1 (y - f_0(X)), where f_0 is the network.
    Without ``from_network``, f_0 = 0: this is regression with the kernel alone.

    It is a regressor of scikit-learn, so it works in pipelines and in cross-validation. Inputs can
    be tensors, or arrays, which are converted to the type and device of the network. Predictions
    are float64, and a tensor or an array as the inputs are. Arguments are checked by `fit`.
    ``sklearn.base.clone`` shares the network and does not copy it.

    Args:
        network: a torch module in eval mode.
        kind: "traced" takes the mean over outputs of Theta_kk as the kernel of every column of the
            targets, so that the prediction of a column does not depend on the others. "full" takes
            all pairs of outputs, which is the linearised network itself: the model couples the
            outputs, and every prediction depends on all columns. "precomputed" takes kernels in
            place of inputs, and no network.
        ridge: added to the diagonal of the kernel, >= 0.
        from_network: whether f_0 is the network, or what ``of`` selects.
        of: the function x -> (N, K) whose kernel is taken; the network itself by default.
        parameters: which parameters are counted.
        budget: bytes for temporary arrays.
        check: whether each kernel is checked.

    Attributes:
        coefficients_: of the shape of the targets, float64.
        x_: the training inputs as a tensor; not with "precomputed".
        n_outputs_: K, the number of outputs of the network; not with "precomputed".
        n_features_in_: size of the second axis of the training inputs.

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

        With a kernel that was computed before, such as the file of a kernel of many images:

        >>> theta = fw.traced_kernel(net, x).numpy()  # or np.load("kernel.npy", mmap_mode="r")
        >>> model = fw.KernelRegression(kind="precomputed", ridge=1e-6)
        >>> model.fit(theta[:20, :20], x[:20, 0]).predict(theta[20:, :20]).shape
        (10,)
    """

    def __init__(
        self,
        network: nn.Module | None = None,
        *,
        kind: str = "traced",
        ridge: float = 0.0,
        from_network: bool = False,
        of: Callable[[Tensor], Tensor] | None = None,
        parameters: Callable[[str], bool] | None = None,
        budget: int = DEFAULT_BUDGET,
        check: bool = True,
    ):
        self.network, self.kind, self.ridge = network, kind, ridge
        self.from_network, self.of, self.parameters = from_network, of, parameters
        self.budget, self.check = budget, check

    def fit(self, X: Inputs, y: Inputs) -> Self:
        """Solve for the coefficients.

        Args:
            X: inputs (N, ...). With "precomputed" their symmetric kernel (N, N), which is taken as
                it is: divide a traced kernel by the number of outputs to get the predictions of
                "traced" with the same ridge.
            y: targets (N, C) or (N,); one-hot labels for classes. With ``from_network`` or "full",
                C is the number of outputs of the network.

        Raises:
            ConfigError: an argument is out of range, the shapes do not match, X or y is not finite,
                or the kernel is singular and ``ridge`` is 0.
        """
        self._check_arguments()
        x = self._inputs(X, reset=True)
        targets = _targets(y, len(x)).to(x.device)
        columns = targets.reshape(len(x), -1)
        if self.kind == "precomputed":
            if x.shape != (len(x), len(x)):
                raise ConfigError(f"X: shape {tuple(x.shape)} must be (N, N), a kernel of N inputs")
            solved = _solved(x.double(), columns, self.ridge)
        else:
            outputs = self._outputs(x, columns.shape[1])
            solved = self._fitted(x, columns - self._start(x), outputs)
            self.x_, self.n_outputs_ = x, outputs
        self.coefficients_ = solved.reshape(targets.shape)
        return self

    def predict(self, X: Inputs) -> Any:
        """Return predictions (N', C) or (N',), as the targets are.

        Args:
            X: inputs (N', ...). With "precomputed" the kernel (N', N) between them and the training
                inputs.

        Raises:
            NotFittedError: `fit` was not called.
            ConfigError: the inputs do not have the shape of the training inputs, or are not finite.
        """
        if not hasattr(self, "coefficients_"):
            raise NotFittedError("the regression has no coefficients yet; call fit first")
        x = self._inputs(X, reset=False)
        columns = self.coefficients_.reshape(len(self.coefficients_), -1)
        if self.kind == "precomputed":
            prediction = x.double() @ columns
        else:
            theta = cross_kernel(self.network, x, self.x_, kind=self.kind, **self._options())
            if self.kind == "full":
                prediction = torch.einsum("kisj,js->ik", theta, columns)
            else:
                prediction = theta / self.n_outputs_ @ columns
            prediction = prediction + self._start(x)
        prediction = _in_range(prediction, "predictions")
        prediction = prediction.reshape(len(x), *self.coefficients_.shape[1:])
        return prediction if isinstance(X, Tensor) else prediction.cpu().numpy()

    def score(self, X: Inputs, y: Inputs, sample_weight: np.ndarray | None = None) -> float:
        """Return the coefficient of determination R^2 of the predictions, the mean over columns.

        Args:
            X: as for `predict`.
            y: targets, as for `fit`.
            sample_weight: weights of the inputs (N',); equal by default.

        Raises:
            ConfigError: see `predict`.
        """
        return float(super().score(_array(X), _array(y), sample_weight))

    def __sklearn_clone__(self) -> Self:
        # a copy of the network would not be the one that ``of`` computes with
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.pairwise = self.kind == "precomputed"
        return tags

    def _check_arguments(self) -> None:
        checked_choice("kind", self.kind, ("traced", "full", "precomputed"))
        checked_number("ridge", self.ridge)
        if self.kind != "precomputed":
            if not isinstance(self.network, nn.Module):
                raise ConfigError(
                    f"network: {type(self.network).__name__} must be a torch module; leave it out "
                    "only with kind='precomputed'"
                )
            return
        given = {"network": self.network is not None, "from_network": self.from_network}
        unused = [*(name for name, value in given.items() if value), *self._options()]
        if unused:
            raise ConfigError(
                f"{', '.join(unused)}: not used with kind='precomputed', where the kernel is "
                "given; leave it out"
            )

    def _options(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in OPTIONS}
        return {name: value for name, value in given.items() if value != OPTIONS[name]}

    def _inputs(self, X: Inputs, *, reset: bool) -> Tensor:
        """Return inputs as a tensor; ``reset`` when fitting."""
        if isinstance(X, Tensor):
            check_tensor(X, "X")
        try:
            if isinstance(X, Tensor):
                validate_data(self, X, reset=reset, skip_check_array=True)
                values: Tensor | np.ndarray = X.detach()
            else:
                values = validate_data(self, X, reset=reset, allow_nd=True)
        except ValueError as error:
            raise ConfigError(str(error)) from error
        if self.network is None:
            return _finite(values if isinstance(values, Tensor) else torch.tensor(values), "X")
        return as_inputs(self.network, values, "X")

    def _outputs(self, x: Tensor, columns: int) -> int:
        """Return the number of outputs of the network; refuse it and the targets if need be."""
        outputs = output_count(self.network, x, **self._options())
        if (self.from_network or self.kind == "full") and columns != outputs:
            reason = "kind='full'" if self.kind == "full" else "from_network=True"
            raise ConfigError(
                f"y: {columns} columns must be {outputs} with {reason}, one for each output of the "
                "network"
            )
        return outputs

    def _fitted(self, x: Tensor, residual: Tensor, outputs: int) -> Tensor:
        if self.kind == "traced":
            theta = traced_kernel(self.network, x, **self._options()) / outputs
            return _solved(theta, residual, self.ridge)
        size = residual.numel()
        theta = full_kernel(self.network, x, **self._options()).reshape(size, size)
        flat = residual.mT.reshape(size, 1)  # (output, input), as the kernel
        return _solved(theta, flat, self.ridge).reshape(-1, len(x)).mT

    def _start(self, x: Tensor) -> Tensor | float:
        """Return f_0(x), (N, K), or 0."""
        if not self.from_network:
            return 0.0
        function = self.of or self.network
        # a forward pass may differentiate, so that no_grad is not for it
        with unchanged_surroundings(), gradients_on():
            return torch.cat([function(part.clone()).detach().double() for part in x.split(BATCH)])


def _targets(y: Inputs, count: int) -> Tensor:
    """Return targets (N, C) or (N,) as float64."""
    if y is None:  # the words that scikit-learn looks for
        raise ConfigError("y: the regression requires y to be passed, but the target y is None")
    if isinstance(y, Tensor):
        check_tensor(y, "y")
        values = _finite(y.detach(), "y")
    else:
        rules = {"ensure_2d": False, "allow_nd": True, "ensure_min_samples": 0, "input_name": "y"}
        try:
            values = torch.tensor(check_array(y, **rules))
        except ValueError as error:
            raise ConfigError(str(error)) from error
    if values.dim() not in (1, 2) or len(values) != count:
        raise ConfigError(
            f"y: shape {tuple(values.shape)} must be ({count}, C) or ({count},), for {count} inputs"
        )
    return values.double()


def _finite(values: Tensor, name: str) -> Tensor:
    if not values.numel() or not bool(values.isfinite().all()):
        raise ConfigError(f"{name}: must have at least one row, and only finite numbers")
    return values


def _array(values: Any) -> Any:
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)


def _solved(theta: Tensor, right: Tensor, ridge: float) -> Tensor:
    regular = theta.clone()
    regular.diagonal().add_(ridge)
    factor, info = torch.linalg.cholesky_ex(regular)
    if info.item():
        raise ConfigError(
            f"ridge = {ridge:g}: the kernel of {len(theta)} rows is singular; give a larger ridge"
        )
    return _in_range(torch.cholesky_solve(right.to(theta), factor), "coefficients")


def _in_range(values: Tensor, name: str) -> Tensor:
    if not bool(values.isfinite().all()):
        raise ConfigError(
            f"{name}: some are not finite; scale the targets, the kernel or the outputs of the "
            "network"
        )
    return values
