"""Regression with the tangent kernel of the user's own network, as an estimator of scikit-learn."""

from collections.abc import Callable
from typing import Any, Literal, Self, get_args, overload

import numpy as np
import sklearn.exceptions
import torch
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data
from torch import Tensor, nn

from finitewidth.common.arrays import Array
from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_number
from finitewidth.kernels.trained import DEFAULT_BUDGET
from finitewidth.kernels.trained.batches import Batch, Inputs, as_batch, is_several
from finitewidth.kernels.trained.counted import Chosen
from finitewidth.kernels.trained.inputs import check_tensor
from finitewidth.kernels.wide.law import Variance
from finitewidth.library.fixed_kernel import At, FixedKernel, as_outputs, as_rows
from finitewidth.library.given_kernel import at_given, check_symmetric, refuse_unused
from finitewidth.library.limit_kernel import Law, LimitKernel, kernel_of
from finitewidth.library.posterior import ensemble_variances, factor, in_range, posterior_variances
from finitewidth.library.targets import as_array, as_targets, check_columns, finite, like_inputs

# Options of the kernels; those at their defaults are not passed on.
OPTIONS = {"of": None, "parameters": None, "budget": DEFAULT_BUDGET, "check": True}
KernelKind = Literal["traced", "full", "wide", "wide_nngp", "precomputed"]
KINDS = get_args(KernelKind)


class NotFittedError(ConfigError, sklearn.exceptions.NotFittedError):  # type: ignore[misc]  # untyped
    """`KernelRegression.predict` was called before `KernelRegression.fit`."""


class KernelRegression(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Predictions of the linearised network, trained to the end on squared errors.

    f(x) = f_0(x) + Theta(x, X) (Theta(X, X) + ridge)^-1 (y - f_0(X)), where f_0 is the network.
    Without ``from_network``, f_0 = 0: this is regression with the kernel alone. With "wide" it is
    the network of infinite width, whose training is that of a linear model, and the mean over its
    starts (Lee et al. 2019, equation 16).

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
            outputs, and every prediction depends on all columns. "wide" takes the tangent kernel
            of the limit of infinite width, see `wide_kernel`: the network is trained from random
            weights. "wide_nngp" takes the covariance of an output in this limit: the network is
            Bayesian, with these weights as prior. With both, outputs are independent, and each
            column is predicted alone. "precomputed" takes kernels in place of inputs.
        ridge: added to the diagonal of the kernel, >= 0.
        from_network: whether f_0 is the network, or what ``of`` selects.
        of: the function whose kernel is taken, called as the network is; the network by default.
        parameters: which parameters are counted; see `traced_kernel`.
        budget: bytes for temporary arrays.
        check: whether each kernel is checked.
        sigma_w2: needed with "wide" and "wide_nngp": the variance of a weight times its fan-in.
        sigma_b2: with these, that of a bias. Both can be given for each layer; see `wide_kernel`.
        parametrisation: with "wide", "ntk" or "standard"; see `wide_kernel`.

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

        The infinitely wide network, trained to the end, and its spread over the starts:

        >>> model = fw.KernelRegression(net, kind="wide", sigma_w2=2.0, sigma_b2=0.1)
        >>> mean, deviation = model.fit(x[:20], x[:20, 0]).predict(x, return_std=True)
        >>> bool(deviation[:20].max() < 1e-3 < deviation[20:].min())
        True
    """

    def __init__(
        self,
        network: nn.Module | None = None,
        *,
        kind: KernelKind = "traced",
        ridge: float = 0.0,
        from_network: bool = False,
        of: Callable[..., Any] | None = None,
        parameters: Chosen | None = None,
        budget: int = DEFAULT_BUDGET,
        check: bool = True,
        sigma_w2: Variance | None = None,
        sigma_b2: Variance = 0.0,
        parametrisation: Literal["ntk", "standard"] = "ntk",
    ):
        self.network = network
        self.kind = kind
        self.ridge = ridge
        self.from_network = from_network
        self.of = of
        self.parameters = parameters
        self.budget = budget
        self.check = check
        self.sigma_w2 = sigma_w2
        self.sigma_b2 = sigma_b2
        self.parametrisation = parametrisation

    def fit(self, X: Inputs, y: Array) -> Self:
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
        theta: Tensor
        start: Tensor | float
        if self.kind == "precomputed":
            given = self._given_kernel(X, reset=True)
            targets = as_targets(y, len(given)).to(given.device)
            check_symmetric(given)
            theta = given.double()
            start = 0.0
        else:
            x = as_batch(self._module(), self._inputs(X, reset=True), "X")
            targets = as_targets(y, len(x)).to(x.device)
            kernel = self._kernel_of(x, targets)
            theta = kernel.matrix()
            start = kernel.start()
        residual = targets.reshape(len(targets), -1).double() - start
        self._factor = factor(theta, self.ridge)
        right = as_rows(residual, self.kind)
        solved = in_range(torch.cholesky_solve(right, self._factor), "coefficients")
        self.coefficients_ = as_outputs(solved, len(targets), self.kind).reshape(targets.shape)
        return self

    @overload
    def predict(
        self,
        X: Tensor,
        return_std: Literal[False] = False,
        *,
        prior_variance: Array | None = None,
    ) -> Tensor: ...

    @overload
    def predict(
        self, X: Tensor, return_std: Literal[True], *, prior_variance: Array | None = None
    ) -> tuple[Tensor, Tensor]: ...

    @overload
    def predict(
        self, X: Inputs, return_std: bool = False, *, prior_variance: Array | None = None
    ) -> Any: ...

    def predict(
        self, X: Inputs, return_std: bool = False, *, prior_variance: Array | None = None
    ) -> Any:
        """Return predictions (N', C) or (N',), as the targets are.

        With ``return_std`` they come with standard deviations of the function, without noise. For
        "wide" they are the spread of networks that start from different weights: the roots of
        K(x, x) + A K(X, X) A^T - A K(X, x) - K(x, X) A^T with the NNGP kernel K and A = Theta(x, X)
        (Theta(X, X) + ridge)^-1 (Lee et al. 2019, equation 16, where ridge = 0). With a ridge the
        loss of the training is |f(X) - y|^2 + ridge |theta - theta_0|^2.

        For other kinds they are those of the Gaussian process whose prior has the kernel as its
        covariance and mean f_0, given the targets with noise of variance ``ridge``, as in
        scikit-learn; for "wide_nngp" the Bayesian network (Lee et al. 2018, equations 8 and 9).

        Rounding of kernel entries of size k moves a variance by about eps k times the condition
        number of the kernel with its ridge; none is below 0.

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
        prediction = in_range(at.start + change, "predictions")
        mean = like_inputs(X, prediction.reshape(shape))
        if not return_std:
            return mean
        if self.kind == "wide" and isinstance(self._kernel, LimitKernel):
            weights = torch.cholesky_solve(at.block.mT, self._factor)  # (N, N')
            variances = ensemble_variances(at, weights, self._kernel.start_covariance)
        else:
            variances = posterior_variances(at, self._factor)
        deviations = as_outputs(variances.sqrt()[:, None], at.count, self.kind)
        return mean, like_inputs(X, deviations.expand_as(change).reshape(shape))

    def score(self, X: Inputs, y: Array, sample_weight: np.ndarray | None = None) -> float:
        """Return the coefficient of determination R^2 of the predictions, the mean over columns.

        Args:
            X: as for `predict`.
            y: targets, as for `fit`.
            sample_weight: weights of the inputs (N',); equal by default.

        Raises:
            ConfigError: see `predict`.
        """
        from sklearn.metrics import r2_score  # takes time to import

        targets = as_array(y)
        prediction = as_array(self.predict(X))
        if (targets.shape[1:] or (1,)) != (prediction.shape[1:] or (1,)):  # (N,) is (N, 1), too
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
        checked_choice("kind", self.kind, KINDS)
        checked_number("ridge", self.ridge)
        if self.kind != "precomputed":
            self._module()
            return
        self._law().check_kind(self.kind)
        unused = []
        if self.network is not None:
            unused.append("network")
        if self.from_network:
            unused.append("from_network")
        refuse_unused([*unused, *self._options()])

    def _module(self) -> nn.Module:
        """Return the network, which every kind but "precomputed" needs."""
        if not isinstance(self.network, nn.Module):
            raise ConfigError(
                f"network: {type(self.network).__name__} must be a torch module; leave it out "
                "only with kind='precomputed'"
            )
        return self.network

    def _law(self) -> Law:
        return Law(self.sigma_w2, self.sigma_b2, self.parametrisation)

    def _options(self) -> dict[str, Any]:
        """The options of the kernels that are not at their defaults."""
        options = {}
        for name, default in OPTIONS.items():
            value = getattr(self, name)
            if value != default:
                options[name] = value
        return options

    def _given_kernel(self, X: Inputs, *, reset: bool) -> Tensor:
        """Return a precomputed kernel as a tensor; ``reset`` when fitting."""
        given = self._inputs(X, reset=reset)
        return finite(given if isinstance(given, Tensor) else torch.tensor(given), "X")

    def _inputs(self, X: Inputs, *, reset: bool) -> Any:
        """Return inputs as scikit-learn has checked them; ``reset`` when fitting.

        Arrays stay arrays: a prediction takes them with the type that the network had at the fit.
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
        return given

    def _kernel_of(self, x: Batch, targets: Tensor) -> FixedKernel | LimitKernel:
        """Return the kernel of the training inputs; keep what predictions need."""
        assert self.kind != "precomputed"
        kernel = kernel_of(
            self._module(),
            x,
            kind=self.kind,
            from_network=self.from_network,
            law=self._law(),
            options=self._options(),
        )
        reason = "kind='full'" if self.kind == "full" else "from_network=True"
        one_each = self.from_network or self.kind == "full"
        check_columns(targets, kernel.outputs, reason if one_each else "")
        self._kernel = kernel
        self.x_ = kernel.x.given()
        self.n_outputs_ = kernel.outputs
        return kernel

    def _at(self, X: Inputs, return_std: bool, prior_variance: Array | None) -> At:
        """Return what predictions at inputs need."""
        if self.kind != "precomputed":
            if prior_variance is not None:
                raise ConfigError("prior_variance: it is for kind='precomputed'; leave it out")
            return self._kernel.at(self._inputs(X, reset=False), variances=return_std)
        block = self._given_kernel(X, reset=False).double()
        return at_given(block, return_std, prior_variance)
