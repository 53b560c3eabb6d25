"""The columns of the tables of npf, each once; those that dgn has too are in declarations."""

from finitewidth.records.tables import integer, number, text

# Table 2
CHOSEN = integer(
    "chosen", "1 if the run has the best step size of its regime, or the only one, else 0"
)
PAPER = text("paper", "version of the paper: npf, or npf0, the earlier one")
CELL_ROW = text("row", "row of Table 2, network and optimiser")
BEST_TEST_MEAN = number(
    "best_test_mean",
    "highest test accuracy of any epoch, mean over runs",
    "percent",
    missing="all runs diverged",
)
BEST_TEST_SPREAD = number(
    "best_test_spread",
    "highest test accuracy of any epoch, sample standard deviation over runs",
    "percent",
    missing="fewer than two runs did not diverge",
)
CROSS_FITTED_MEAN = number(
    "cross_fitted_mean",
    "test accuracy at the best epoch of the other half of the test images, mean over runs",
    "percent",
    missing="all runs diverged",
)
CROSS_FITTED_SPREAD = number(
    "cross_fitted_spread",
    "sample standard deviation over runs of the test accuracy at the best epoch of the other half",
    "percent",
    missing="fewer than two runs did not diverge",
)
LAST_MEAN = number(
    "last_mean",
    "test accuracy after the last epoch, mean over runs",
    "percent",
    missing="all runs diverged",
)
LAST_SPREAD = number(
    "last_spread",
    "test accuracy after the last epoch, sample standard deviation over runs",
    "percent",
    missing="fewer than two runs did not diverge",
)
TRAIN_ACCURACY_PERCENT = number(
    "train_accuracy",
    "highest train accuracy of any epoch, mean over runs",
    "percent",
    missing="all runs diverged",
)
LOWEST_TRAIN_ACCURACY_PERCENT = number(
    "train_accuracy_lowest",
    "highest train accuracy of any epoch, of the run with the lowest one",
    "percent",
)
ALL_TRAINED = integer("trained", "1 if every run is trained, 0 if not")
TRAINED_FROM = number(
    "trained_from", "train accuracy from which a run counts as trained", "percent"
)
SELECTED_EPOCH = text(
    "select", "epoch of the accuracy that is compared with the paper's, as in the settings"
)
PRINTED_MEAN = number("reported_mean", "test accuracy that the paper prints", "percent")
PRINTED_SPREAD = number(
    "reported_spread", "standard deviation that the paper prints, in the population form", "percent"
)
PRINTED_RUNS = integer("reported_runs", "number of runs of the paper")
DIFFERENCE = number(
    "difference",
    "our mean minus the paper's",
    "percentage points",
    missing="all of our runs diverged",
)
DIFFERENCE_SE = number(
    "difference_se",
    "our mean minus the paper's, in combined standard errors",
    missing="there is no standard error, or both are 0",
)

# Figure 3
PANEL = text("panel", "panel of Figure 3: stages, nu or kvf")
STAGE = integer("stage", "stage at which the gates were taken; 0: random gates")
SERIES_OF_STAGES = text("series", "FLNPF by stage, or a reference line of Table 2: FRNPF, ReLU")
STAGE_OF_CURVE = number("x", "stage at which the gates were taken", missing="a reference line")
ACCURACY = number(
    "y",
    "test accuracy at the selected epoch, mean over runs",
    "fraction",
    missing="all runs diverged",
)
TRAIN_ACCURACY = number(
    "train_accuracy",
    "highest train accuracy of any epoch, mean over runs",
    "fraction",
    missing="all runs diverged",
)
LOWEST_TRAIN_ACCURACY = number(
    "train_accuracy_lowest",
    "highest train accuracy of any epoch, of the run with the lowest one",
    "fraction",
)
SERIES_OF_NU = text("series", "nu, the only curve")
EPOCH_OF_CURVE = integer("x", "epoch of the training", "epoch")
TRACE_KV = number("trace_kv", "trace of K^v, the kernel of the values", missing="diverged")
TRACE_KF = number("trace_kf", "trace of K^f, the kernel of the features", missing="diverged")
FROBENIUS_KV = number("frobenius_kv", "Frobenius norm of K^v", missing="diverged")
FROBENIUS_KF = number("frobenius_kf", "Frobenius norm of K^f", missing="diverged")
SERIES_OF_SIZES = text("series", "size and kernel: trace or Frobenius norm of K^v or K^f")
SIZE_OF_KERNEL = number(
    "y", "trace or norm of the kernel, mean over runs", missing="all runs diverged"
)

# Energy of the labels
ENERGY_PANEL = text(
    "panel",
    "energy: share of |y|^2 by number of eigenvectors; nu: their part of nu; top: energy by epoch",
)
ENERGY_SERIES = text(
    "series", "epoch, or number of first eigenvectors; by chance: labels without a direction"
)
ENERGY_X = integer("x", "number of first eigenvectors; in panel top the epoch")
ENERGY = number(
    "y",
    "share of |y|^2 in the first eigenvectors, or their part of nu, mean over runs",
    missing="no run has a finite value",
)
ENERGY_SPREAD = number(
    "spread",
    "sample standard deviation over runs",
    missing="by chance, or fewer than two runs have a finite value",
)
ENERGY_RUNS = number("runs", "number of runs in the mean", missing="by chance")
ENERGY_FAILED = number(
    "failed", "number of runs left out, because their value is not finite", missing="by chance"
)

# The CNTK
METHOD = text("kind", "kernel; network; or printed, the number of the paper")
METHOD_REGIME = text("regime", "cntk, or the gate regime of the network")
TRAIN_IMAGES = number("train", "number of training images", missing="the number of the paper")
TEST_IMAGES = number("test", "number of test images", missing="the number of the paper")
TEST_ACCURACY = number(
    "accuracy",
    "test accuracy; of networks the mean over runs, at the best epoch of the other half of the "
    "test images",
    "percent",
)
STANDARD_ERROR = number(
    "standard_error",
    "standard error of the accuracy, over test images and, for networks, runs",
    "percent",
    missing="the number of the paper, or a single run",
)
RIDGE = number(
    "ridge", "ridge of the kernel, in units of its mean diagonal", missing="no kernel of ours"
)
RIDGED_CONDITION_NUMBER = number(
    "condition_number", "condition number of the kernel with the ridge", missing="no kernel of ours"
)
ROUNDING = number(
    "rounding",
    "largest relative difference of the kernel in float32 from that in float64, on some images",
    missing="no kernel of ours",
)
NETWORK_RUNS = number("runs", "number of runs in the mean", missing="no network")
DOF = number(
    "dof", "degrees of freedom of the standard error, inf without spread", missing="no network"
)
MEAN_BEST_TEST = number(
    "best_test",
    "highest test accuracy of any epoch, mean over runs",
    "percent",
    missing="no network",
)
MEAN_LAST = number(
    "last", "test accuracy after the last epoch, mean over runs", "percent", missing="no network"
)
MEAN_TRAIN_ACCURACY = number(
    "train_accuracy",
    "highest train accuracy of any epoch, mean over runs",
    "percent",
    missing="no network",
)
LOWEST_OF_NETWORK = number(
    "train_accuracy_lowest",
    "highest train accuracy of any epoch, of the run with the lowest one",
    "percent",
    missing="no network",
)
NETWORK_TRAINED = number(
    "trained", "1 if every run of the network is trained, 0 if not", missing="no network"
)
COMPARABLE = integer(
    "comparable", "1 if data and sizes are the paper's, so that results may be compared, else 0"
)

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
CORRELATION = number("correlation", "correlation of the entries of K^v and of d sigma^(2(d-1)) H")
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
LIMIT_CORRELATION = number("correlation", "correlation of limit and tangent kernel")
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

# What explains the paper: the toy network of Figure 1
KIND = text("kind", "node or edge")
LAYER = integer("layer", "layer of the node, 0 for the inputs; an edge belongs to where it ends")
END = integer("end", "unit of the layer, from 1; of an edge the unit at which it ends")
START = number(
    "start", "unit of the layer before at which an edge starts, from 1", missing="a node"
)
ACTIVE = tuple(
    integer(
        f"active_{example}",
        f"gate of the node for example {example}, or 1 if the edge lies on an active path, else 0",
    )
    for example in (1, 2, 3)
)
PATH = integer("path", "number of the path, in lexicographic order, from 1")
LAYERS_OF_PATH = tuple(
    integer(f"layer_{layer}", f"unit of the path in layer {layer}, from 1") for layer in (0, 1, 2)
)
ACTIVE_PATHS = tuple(
    integer(f"active_{example}", f"1 if all gates on the path are open for example {example}")
    for example in (1, 2, 3)
)
S = integer("s", "number of an example, from 1")
S_PRIME = integer("s_prime", "number of another example, or the same, from 1")
OVERLAP = number("overlap", "Lambda(s, s'), shared active paths over the number of inputs")
SHARED = text(
    "shared", "numbers of the paths that are active for both", missing="no path is active for both"
)

# Figure 2: blocks of the deep gated network
BLOCK = text("kind", "node; forward, gate or gradient (arrows); or regime")
BLOCK_NAME = text("name", "name of a node or a regime", missing="an arrow")
BLOCK_NETWORK = text(
    "network",
    "network that the row belongs to, of a regime those that learn",
    missing="the input, or no network learns",
)
BLOCK_LAYER = text("layer", "layer of a node, in symbols", missing="no node")
LABEL = text("label", "formula in LaTeX; of a regime its gates: hard or soft")
BLOCK_START = text(
    "start",
    "node at which an arrow starts; of a regime how its feature network starts",
    missing="a node",
)
BLOCK_END = text("end", "node or network at which an arrow ends", missing="no arrow")

# Figure 4 and Table 3: layouts of four paths through a layer
LAYOUT = text("layout", "letter of the layout, as in npf Table 3")
STARTS = integer("starts", "number of different nodes at which the four paths enter the layer")
ENDS = integer("ends", "number of different nodes at which they leave it")
WEIGHTS = integer("weights", "number of different weights that they take")
WAYS = integer("ways", "number of ways in which four paths can have this layout")
NODES = integer("nodes", "number of nodes on either side of the layer")
PATH_OF_FOUR = integer("path", "number of the path, from 1 to 4")
PATH_START = integer("start", "node at which the path enters the layer, from 1")
PATH_END = integer("end", "node at which the path leaves the layer, from 1")
NEXT = text("next", "letter of a layout that the next layer may have")
SUCCESSIONS = integer("pairs", "number of pairs of ways, in this layer and the next")

# Figure 5: copies of gates
PADDED_LAYER = integer("layer", "hidden layer, from 1")
PADDED_UNIT = integer("unit", "unit of the layer of the value network, from 1")
COPY = integer("copy", "copy k of the gates that the unit belongs to, from 0")
GATE = integer("gate", "unit of the feature network whose gate the unit uses, from 1")
