"""The columns of the tables of the thesis, each once."""

from finitewidth.declarations import columns as shared
from finitewidth.records.tables import flag, integer, number, text

# Figures 2.1 and 2.2: the units of a drawing and their connections
DRAWING = text("drawing", "network, convolution, recurrent or residual")
UNIT_OR_CONNECTION = text(
    "kind", "node: a unit; weight, recurrent, identity: a connection of two units"
)
LAYER = integer("layer", "layer of the unit, or of the unit at the end of a connection")
END = integer("end", "number of this unit in its layer, from 1; pixels are counted line by line")
START_LAYER = number(
    "start_layer", "layer of the unit at the start of a connection", missing="a unit"
)
START = number(
    "start", "number of the unit at the start of a connection in its layer", missing="a unit"
)
WEIGHT = number(
    "weight",
    "number of the shared weight of a connection in the window of a convolution",
    missing="no connection of a convolution",
)
WINDOW = number(
    "window",
    "window of a convolution to which the connection belongs: 1 for the first, 2 for the last",
    missing="no connection of a convolution",
)

# Figure 2.3: polynomials
DEGREE = integer("degree", "degree of the polynomial")
COEFFICIENTS = integer("parameters", "number of coefficients of the polynomial")
RISK_KIND = text("kind", "training: on the samples of the fit; expected: on new samples")
RISK_SHOWN = text("risk", RISK_KIND.meaning)
MEDIAN_RISK = number("median", "median of the risk over the datasets")
LOW_RISK = number("low", "quantile 10 % of the risk over the datasets")
HIGH_RISK = number("high", "quantile 90 % of the risk over the datasets")
LOWEST_RISK = number("lowest", "lower end of the band: the quantile 10 % over the datasets")
HIGHEST_RISK = number("highest", "upper end of the band: the quantile 90 % over the datasets")
MEAN_RISK = number("mean", "mean of the risk over the datasets")
BEST = flag("best", "whether this degree has the lowest median of its kind of risk")
OPTIMUM = integer("optimum", "1 at the degree of the lowest median expected risk, else 0")
NOISE = number("noise", "variance of the noise in the values")
NOISE_VARIANCE = number(
    "noise_variance", "variance of the noise, below which no expected risk can be"
)
SAMPLES = integer("samples", "number of points of a dataset")
DATASETS = integer("draws", "number of datasets drawn")

# Figure 2.4: linear regression with P parameters and N samples
CASE = text("case", "r^2 / sigma^2, squared norm of the true weights over the variance of noise")
SIGMA2 = number("noise", "sigma^2, variance of the noise")
RATIO = number("x", "gamma = P/N, parameters over samples")
SIZE = integer("size", "N, number of samples")
PARAMETERS = integer("parameters", "P, number of parameters")
DRAWS = integer("draws", "number of input matrices drawn")
RISK_MEAN = number("mean", "mean of the drawn risks")
RISK_MEAN_ERROR = number("mean_error", "standard error of the mean of the drawn risks")
RISK_MEDIAN = number("median", "median of the drawn risks")
RISK_MEDIAN_ERROR = number("median_error", "standard error of the median of the drawn risks")
RISK_LOW = number("low", "quantile 10 % of the drawn risks")
RISK_HIGH = number("high", "quantile 90 % of the drawn risks")
EXACT = number("exact", "exact mean of the risk", missing="the risk has no mean: |P - N| < 2")
HAS_MEAN = flag("has_mean", "whether the risk has a mean")
HAS_VARIANCE = flag("has_variance", "whether the risk has a variance")
CURVE = text(
    "curve",
    "exact: mean of the risk; corrected: its limit; printed: the limit with the sign that the "
    "paper prints",
)
RISK_ON_CURVE = number(
    "y", "risk on the curve", missing="there is no mean, or no limit, at this ratio"
)
LOWEST_RATIO = number(
    "lowest", "ratio above 1 where the limit of the risk is lowest", missing="the limit only falls"
)
PRINTED_ROOT = number("printed_root", "ratio above 1 up to which the limit as printed is negative")
LIMIT = number("limit", "limit of the risk for P, N to infinity")
STEPS = integer("steps", "steps of gradient descent", "step")
CONDITION = number("condition", "largest over smallest nonzero eigenvalue of X'X")
DISTANCE = number(
    "distance",
    "distance of the weights from those of the pseudoinverse, over the norm of the latter",
)
SIGNAL_TO_NOISE = number(
    "signal_to_noise", "r^2 / sigma^2, squared norm of the weights over the noise"
)
SERIES = text(
    "series",
    "mean or median of drawn risks; exact: their exact mean; corrected: its limit; printed: "
    "the limit with the sign that the paper prints; printed_root: the ratio up to which the "
    "latter is negative; lowest: where the limit is lowest above ratio 1",
)
SIGMA2_SHOWN = number("noise_variance", SIGMA2.meaning)
RATIO_SHOWN = number("ratio", RATIO.meaning)
SAMPLES_SHOWN = number(
    "samples",
    "N, number of samples of the drawn risks and the exact mean",
    missing="the row is a single ratio",
)
RISK = number(
    "risk",
    "risk beyond the noise, squared distance from the true weights",
    missing="the row is a single ratio, or there is no mean",
)
STANDARD_ERROR = number(
    "standard_error", "standard error of a mean", missing="the row is no mean of drawn risks"
)
LOWEST_DRAWN = number(
    "lowest",
    "quantile 10 % of the drawn risks, of a median",
    missing="the row is no median of drawn risks",
)
HIGHEST_DRAWN = number(
    "highest",
    "quantile 90 % of the drawn risks, of a median",
    missing="the row is no median of drawn risks",
)

# Figure 2.5: kernels of trained networks
SIGMA_W2 = number("sigma_w2", "variance of the initial weights, times the width of the layer")
STEP = integer("step", "step of the training", "step")
ROW = shared.IMAGE_ROW
COLUMN = shared.IMAGE_COLUMN
CLASS_ROW = shared.CLASS_ROW
CLASS_COLUMN = shared.CLASS_COLUMN
SHARE = number("share", "kernel of both images over the mean of its diagonal at this step")
