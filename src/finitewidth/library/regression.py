"""Regression with the tangent kernel of the user's own network, as an estimator of scikit-learn."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import sklearn.exceptions
import torch
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_number
from finitewidth.kernels.trained import DEFAULT_BUDGET
from finitewidth.kernels.trained.batches import Batch, Inputs, as_batch, is_several
from finitewidth.kernels.trained.inputs import check_tensor
from finitewidth.kernels.trained.interface import Chosen
from finitewidth.library.fixed_kernel import At, FixedKernel, as_outputs, as_rows
from finitewidth.library.targets import as_array, as_targets, check_columns, finite

# Options of the kernels; those at their defaults are not passed on.
OPTIONS = {"of": None, "parameters": None, "budget": DEFAULT_BUDGET, "check": True}
SYMMETRIC = 1e-4  # largest difference from the transposed, beside the largest entry


class NotFittedError(ConfigError, sklearn.exceptions.NotFittedError):
    """`KernelRegression.predict` was called before `KernelRegression.fit`."""


class KernelRegression(RegressorMixin, BaseEstimator):
    """Predictions of the linearised network, trained to the end on squared errors.

    f(x) = f_0(x) + Theta(x, X) (Theta(X, X) + ridge)^-1 (y - f_0(X)), where f_0 is the network.
    Without ``from_network``, f_0 = 0: this is regression with the kernel alone.

    It is a regressor of scikit-learn, so it works in pipelines and in cross-validation. Inputs can
    be tensors, or arrays, which are converted to the type and device of the network. Predictions
    are float64, and a tensor or an array as the inputs are. Arguments are checked by `fit`, which
    copies parameters and buffers: later changes of the network do not change predictions.
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
        of: the function whose kernel is taken, called as the network is; the network by default.
        parameters: which parameters are counted; see `traced_kernel`.
        budget: bytes for temporary arrays.
        check: whether each kernel is checked.

    Attributes:
        coefficients_: of the shape of the targets, float64.
        x_: the training inputs as tensors; not with "precomputed".
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
        of: Callable[..., Any] | None = None,
        parameters: Chosen | None = None,
        budget: int = DEFAULT_BUDGET,
        check: bool = True,
    ):
        self.network, self.kind, self.ridge = network, kind, ridge
        self.from_network, self.of, self.parameters = from_network, of, parameters
        self.budget, self.check = budget, check

    def fit(self, X: Inputs, y: Inputs) -> Self:
        """Solve for the coefficients.

        Args:
            X: inputs (N, ...), as for `traced_kernel`. With "precomputed" their symmetric kernel
                (N, N), which is taken as it is: divide a traced kernel by the number of outputs to
                get the predictions of "traced" with the same ridge.
            y: targets (N, C) or (N,); one-hot labels for classes. With ``from_network`` or "full",
                C is the number of outputs of the network.

        Raises:
            ConfigError: an argument is out of range, the shapes do not match, X or y is not finite,
                y holds classes of a network of several outputs, a precomputed kernel is not
                symmetric, or the kernel is singular and ``ridge`` is 0.
        """
        self._check_arguments()
        x = self._inputs(X, reset=True)
        targets = as_targets(y, len(x)).to(x.device)
        theta, start = self._kernel_and_start(x, targets)
        residual = targets.reshape(len(x), -1).double() - start
        self._factor = _factor(theta, self.ridge)
        right = as_rows(residual, self.kind)
        solved = _in_range(torch.cholesky_solve(right, self._factor), "coefficients")
        self.coefficients_ = as_outputs(solved, len(x), self.kind).reshape(targets.shape)
        return self

    def predict(
        self, X: Inputs, return_std: bool = False, *, prior_variance: Inputs | None = None
    ) -> Any:
        """Return predictions (N', C) or (N',), as the targets are.

        With ``return_std`` they come with the standard deviations of the Gaussian process whose
        prior has the kernel as its covariance and mean f_0, given the targets with noise of
        variance ``ridge``, as those of scikit-learn's GaussianProcessRegressor do. A deviation is
        that of the function, without the noise. It is not the spread of trained networks that
        start from different weights, which is another one also at infinite width (Lee et al. 2019,
        section 2.3). Rounding of kernel entries of size k moves a variance by about eps k times the
        condition number of the kernel with its ridge; what falls below 0 is returned as 0.

        Args:
            X: inputs (N', ...). With "precomputed" the kernel (N', N) between them and the training
                inputs.
            return_std: whether to return deviations, too.
            prior_variance: with "precomputed" and ``return_std``, the kernel of each input with
                itself, (N',).

        Returns:
            The predictions, or predictions and deviations, of the same shape.

        Raises:
            NotFittedError: `fit` was not called.
            ConfigError: the inputs do not have the shape of the training inputs, or are not finite;
                or what the network computes depends on something that has changed since `fit`
                besides its parameters, buffers, modes and modules, which are put back meanwhile.
        """
        if not hasattr(self, "coefficients_"):
            raise NotFittedError("the regression has no coefficients yet; call fit first")
        at = self._at(X, return_std, prior_variance)
        columns = self.coefficients_.reshape(len(self.coefficients_), -1)
        change = as_outputs(at.block @ as_rows(columns, self.kind), at.count, self.kind)
        shape = at.count, *self.coefficients_.shape[1:]
        prediction = _in_range(at.start + change, "predictions")
        mean = _like(X, prediction.reshape(shape))
        if not return_std:
            return mean
        explained = torch.linalg.solve_triangular(self._factor, at.block.mT, upper=False)
        variances = (at.variances - explained.square().sum(0)).clamp_min(0)
        deviations = as_outputs(variances.sqrt()[:, None], at.count, self.kind)
        return mean, _like(X, deviations.expand_as(change).reshape(shape))

    def score(self, X: Inputs, y: Inputs, sample_weight: np.ndarray | None = None) -> float:
        """Return the coefficient of determination R^2 of the predictions, the mean over columns.

        Args:
            X: as for `predict`.
            y: targets, as for `fit`.
            sample_weight: weights of the inputs (N',); equal by default.

        Raises:
            ConfigError: see `predict`.
        """
        from sklearn.metrics import r2_score  # takes time to import

        targets, prediction = as_array(y), as_array(self.predict(X))
        wanted, given = (shape[1:] or (1,) for shape in (prediction.shape, targets.shape))
        if given != wanted:
            raise ConfigError(f"y: shape {targets.shape} must be {prediction.shape}, as at the fit")
        return float(r2_score(targets, prediction, sample_weight=sample_weight))

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

    def _inputs(self, X: Inputs, *, reset: bool) -> Batch | Tensor:
        """Return inputs as a batch, and a precomputed kernel as a tensor; ``reset`` when fitting.

        A prediction takes arrays with the type that the network had at the fit, so that they stay
        arrays here.
        """
        given: Any = X.detach() if isinstance(X, Tensor) else X
        if isinstance(X, Tensor):
            check_tensor(X, "X")
        try:
            if isinstance(X, Tensor):
                validate_data(self, X, reset=reset, skip_check_array=True)
            elif self.kind == "precomputed" or not is_several(X):
                given = validate_data(self, X, reset=reset, allow_nd=True)
        except ValueError as error:
            raise ConfigError(str(error)) from error
        if self.kind == "precomputed":
            return finite(given if isinstance(given, Tensor) else torch.tensor(given), "X")
        return as_batch(self.network, given, "X") if reset else given

    def _kernel_and_start(
        self, x: Batch | Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor | float]:
        """Return the kernel of the training inputs, and f_0; keep what predictions need."""
        if self.kind == "precomputed":
            _check_symmetric(x)
            return x.double(), 0.0
        kernel = FixedKernel(
            self.network,
            x,
            kind=self.kind,
            from_network=self.from_network,
            options=self._options(),
        )
        reason = "kind='full'" if self.kind == "full" else "from_network=True"
        one_each = self.from_network or self.kind == "full"
        check_columns(targets, kernel.outputs, reason if one_each else "")
        self.x_, self.n_outputs_, self._kernel = kernel.x.given(), kernel.outputs, kernel
        return kernel.matrix(), kernel.start()

    def _at(self, X: Inputs, return_std: bool, prior_variance: Inputs | None) -> At:
        """Return what predictions at inputs need."""
        if self.kind != "precomputed":
            if prior_variance is not None:
                raise ConfigError("prior_variance: it is for kind='precomputed'; leave it out")
            return self._kernel.at(self._inputs(X, reset=False), variances=return_std)
        block = self._inputs(X, reset=False).double()
        if not return_std:
            return At(len(block), block, 0.0, None)
        if prior_variance is None:
            raise ConfigError(
                "prior_variance: with kind='precomputed', return_std needs the kernel of each "
                "input with itself, (N',)"
            )
        variances = torch.as_tensor(as_array(prior_variance)).to(block)
        if variances.shape != (len(block),) or not bool((variances >= 0).all()):
            raise ConfigError(
                f"prior_variance: shape {tuple(variances.shape)} must be ({len(block)},), of "
                "numbers >= 0"
            )
        return At(len(block), block, 0.0, variances)


def _like(X: Inputs, values: Tensor) -> Tensor | np.ndarray:
    """Return values as a tensor or an array, as the inputs are."""
    members = [X]
    if is_several(X):
        members = list(X.values() if isinstance(X, Mapping) else X)
    tensors = any(isinstance(member, Tensor) for member in members)
    return values if tensors else values.cpu().numpy()


def _check_symmetric(kernel: Tensor) -> None:
    """Check a kernel of the training inputs."""
    if kernel.shape != (len(kernel), len(kernel)):
        raise ConfigError(f"X: shape {tuple(kernel.shape)} must be (N, N), a kernel of N inputs")
    apart = (kernel - kernel.mT).abs().amax()
    if apart > SYMMETRIC * kernel.abs().amax():
        raise ConfigError(
            "X: with kind='precomputed' it must be the kernel of the training inputs, but it is "
            "not symmetric"
        )


def _factor(theta: Tensor, ridge: float) -> Tensor:
    """Return the Cholesky factor of a kernel with a ridge."""
    regular = theta.clone()
    regular.diagonal().add_(ridge)
    factor, info = torch.linalg.cholesky_ex(regular)
    if info.item():
        raise ConfigError(
            f"ridge = {ridge:g}: the kernel of {len(theta)} rows is singular; give a larger ridge"
        )
    return factor


def _in_range(values: Tensor, name: str) -> Tensor:
    if not bool(values.isfinite().all()):
        raise ConfigError(
            f"{name}: some are not finite; scale the targets, the kernel or the outputs of the "
            "network"
        )
    return values
