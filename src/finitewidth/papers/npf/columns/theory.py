"""Columns of networks with fixed gates: memorisation, mean, convergence and variance of K^v."""

from finitewidth.declarations import columns as shared
from finitewidth.records.tables import integer, number, text

# Memorisation networks
DIAGONAL = number("diagonal", "entry (0, 0) of K_0/d")
OFF_DIAGONAL = number("off_diagonal", "entry (0, 1) of K_0/d")
DISTANCE = number(
    "distance",
    "Euclidean distance of the cumulative spectrum of K_0/d from that of the mean kernel E[K_0]/d",
)
GEOMETRIC = number("geometric", "squared error over that at the start, geometric mean over runs")
GEOMETRIC_LOW = number(
    "geometric_low",
    "the geometric mean, less two standard errors of the mean logarithm",
    missing="a single run",
)
GEOMETRIC_HIGH = number(
    "geometric_high",
    "the geometric mean, plus two standard errors of the mean logarithm",
    missing="a single run",
)
MEAN_DIAGONAL = number("diagonal", "entry (0, 0) of K_0/d, mean over runs")
MEAN_OFF_DIAGONAL = number("off_diagonal", "entry (0, 1) of K_0/d, mean over runs")
DIAGONAL_SPREAD = number(
    "diagonal_spread",
    "sample standard deviation over runs of the entry (0, 0) of K_0/d",
    missing="a single run",
)
OFF_DIAGONAL_SPREAD = number(
    "off_diagonal_spread",
    "sample standard deviation over runs of the entry (0, 1) of K_0/d",
    missing="a single run",
)
DIAGONAL_ERROR = number(
    "diagonal_error", "standard error of the mean entry (0, 0)", missing="a single run"
)
OFF_DIAGONAL_ERROR = number(
    "off_diagonal_error", "standard error of the mean entry (0, 1)", missing="a single run"
)
DIAGONAL_IDEAL = number("diagonal_ideal", "entry (0, 0) of E[K_0]/d, in closed form")
OFF_DIAGONAL_IDEAL = number("off_diagonal_ideal", "entry (0, 1) of E[K_0]/d, in closed form")
IDEAL_CUMULATIVE = number("cumulative", "sum of the eigenvalues of E[K_0]/d up to this one")

# Theory: mean, convergence and variance of K^v for fixed gates
HOW_NETWORKS = text("networks", "enumerated: all networks of a size; drawn: random networks")
GATES = text("gates", "bernoulli: random gates; relu: those of an independent ReLU network")
FIRST_WIDTH = integer("width", "units of each hidden layer; of enumerated networks of the first")
DRAWS = integer("draws", "number of value networks")
PAIRS = integer("pairs", "number of pairs of inputs, each with itself among them")
MEAN_ERROR = number(
    "mean_error",
    "largest difference of the mean of K^v from Theorem B.1, over the theorem's largest entry",
)
VARIANCE_ERROR = number(
    "variance_error",
    "largest difference of the variance of K^v from the exact one, over its largest entry",
)
MAX_Z = number(
    "max_z",
    "largest difference of the mean of K^v from Theorem B.1, in standard errors",
    missing="all networks are enumerated",
)
TRACE_RATIO = number("trace_ratio", "trace of the mean of K^v over that of Theorem B.1")
TRACE_RATIO_SE = number(
    "trace_ratio_se", "standard error of the ratio of traces; 0 if all networks are enumerated"
)
GROWS = text("grows", "what grows: width, or copies of the gates")
FEATURE_WIDTH = integer("width", "units of each hidden layer of the feature network")
COPIES = integer("copies", "number of copies of the gates in the value network")
WHOSE_GATES = text(
    "gates", "independent: of another network than the values; own: of the same network"
)
KERNEL_ERROR = number(
    "error", "Frobenius norm of K^v - d sigma^(2(d-1)) H over that of d sigma^(2(d-1)) H"
)
PREDICTED = number(
    "predicted",
    "exact root mean square of the error over value weights, given the gates",
    missing="the gates are those of the network itself",
)
CORRELATION = number(
    "correlation",
    "Pearson's correlation of K^v and d sigma^(2(d-1)) H, of entries on and above the diagonal",
)
SELF_OVERLAP = number("self_overlap", "mean over inputs of sigma^(2(d-1)) Lambda(s, s)")
DEPTH_OF_CURVE = integer("depth", "number of layers of weights; 0 for the guide")
CURVE = text(
    "curve",
    "drawn: root mean square over runs; exact: its expected value; limit: at infinite width; "
    "guide: a line of slope -1/2",
)
GROWN = number("x", "width or number of copies")
ROOT_MEAN_SQUARE = number("y", "root mean square of the relative error of K^v")
ROOT_MEAN_SQUARE_ERROR = number(
    "spread", "standard error of the root mean square", missing="the curve is not drawn"
)
CURVE_RUNS = number("runs", "number of networks", missing="the curve is not of networks drawn")
ENTRY = text(
    "entry", "K(s, s) with all gates open or half of them, or pair: K(s, s') with a quarter shared"
)
FORM = text("form", "exact; drawn: of random networks; leading: first order in 1/w, times w")
WIDTH_OR_NONE = integer("width", "units of each hidden layer; 0 for the leading order")
DRAWS_OR_NONE = integer("draws", "number of networks drawn; 0 if none is")
VARIANCE = number("variance", "variance of the entry of K^v over networks, with E[K(s, s)] = d")
VARIANCE_ERROR_BAR = number("spread", "standard error of the variance; 0 if no network is drawn")
PER_D2 = number("per_d2", "variance times w / d^2")
PER_D2_SPREAD = number("per_d2_spread", "standard error of the variance times w / d^2")
PER_D3 = number("per_d3", "variance times w / d^3")
PER_D3_SPREAD = number("per_d3_spread", "standard error of the variance times w / d^3")
LAW = text("weights", "law of the weights: gaussian, or signed (two values with equal chance)")
OUTPUT_VARIANCE = text("output_variance", "variance of the weights of the output layer: 2/w or 1/w")
LIMIT = text(
    "limit",
    "kernel of infinite width: tangent (of Gaussian weights), halved (K^(d) of the paper) or "
    "signed (tangent kernel of signed weights)",
)
SCALE = number("scale", "factor that fits the limit to the tangent kernel")
LIMIT_CORRELATION = number(
    "correlation",
    "Pearson's correlation of limit and tangent kernel, of entries on and above the diagonal",
)
LIMIT_ERROR = number("error", "Frobenius norm of tangent kernel less limit, over that of the limit")
EXPECTED = number(
    "expected",
    "factor that theory gives, 1",
    missing="the limit is not that of these networks",
)
MEAN_SCALE = number("scale", "factor that fits the limit to the kernel, mean over networks")
SCALE_ERROR = number(
    "scale_error", "standard error of the factor over networks", missing="a single network"
)
MEAN_CORRELATION = number("correlation", "correlation of limit and kernel, mean over networks")
CORRELATION_ERROR = number(
    "correlation_error",
    "standard error of the correlation over networks",
    missing="a single network",
)
NETWORKS = integer("networks", "number of networks")

# Data files of Figures 6 and 7
IDEAL_SUM = number(
    "sum", "sum of the eigenvalues of the expected kernel over the depth, up to this one"
)
SHORTFALL = number(
    "shortfall",
    "number of the eigenvalue, less the sum: distance to the line of the identity matrix",
    missing="the last eigenvalue, at which all curves meet the line",
)
ROW_KIND = text(
    "panel", "kind of row: spectrum, errors (mean over runs), run, or best depth of the paper"
)
RUN_OF_CURVE = number("run", "number of the run", missing="a mean over runs, or the paper's depth")
OURS_OR_PAPER = shared.SOURCE

# The figure of fixed gates
THEORY_PANEL = text("panel", "width or copies (what grows); d3 or d2 (what divides the variance)")
THEORY_GATES = text(
    "gates", "independent of the values, own (of the same network), open or half open"
)
THEORY_CURVE = text(
    "curve", "drawn (networks), exact, limit (of infinite width) or guide (a slope)"
)
THEORY_DEPTH = number("depth", "depth d of the network", missing="a guide")
THEORY_WIDTH = number("width", "width w of the network", missing="the limit, or the copies grow")
THEORY_COPIES = number(
    "copies", "number m of copies of each gate", missing="the width grows, or a variance"
)
THEORY_ERROR = number(
    "error",
    "root mean square of the relative Frobenius error of K^v",
    missing="the row is of a variance",
)
THEORY_VARIANCE = number(
    "variance",
    "Var[K(s, s)] w / d^3 in panel d3, over d^2 in panel d2",
    missing="the row is of an error",
)
THEORY_STANDARD_ERROR = number(
    "standard_error",
    "standard error of the error or of the variance",
    missing="no networks are drawn, or a single one",
)

# The table of wide limits
LIMIT_DEPTH = integer("depth", "d, number of layers of weights", "layer")
OUTPUT_VARIANCE_TIMES_WIDTH = number(
    "output_variance_times_width",
    "variance of the output layer's weights, times the width w of the networks",
)
WIDE_LIMIT = text(
    "limit",
    "kernel of infinite width: tangent (of Gaussian weights), halved (K⁽ᵈ⁾ of the paper) or signed "
    "(tangent kernel of weights ±σ)",
)
FACTOR = number("factor", "factor that fits the limit to a network's kernel, mean over networks")
FACTOR_ERROR = number(
    "factor_standard_error",
    "standard error of the factor, over networks",
    missing="a single network",
)
CORRELATION_ERROR_SHOWN = number(
    "correlation_standard_error",
    "standard error of the correlation, over networks",
    missing="a single network",
)
LIMIT_WIDTH = integer("width", "w, width of the networks", "unit")
