"""The columns of the tables of trust, each once."""

from finitewidth.declarations import columns as shared
from finitewidth.declarations.columns import DEPTH, WIDTH
from finitewidth.records.tables import integer, number, text

# which networks
ACTIVATION = text("activation", "activation of the hidden layers: tanh, relu or erf")
BORDER = number("sigma_w2", "weight variance of the border between the phases, where chi_1 = 1")
PHASE = text("phase", "ordered, critical (the border between the phases) or chaotic")
CLEAR_PHASE = text(
    "phase",
    "ordered, up to 0.75 of the border's weight variance; chaotic, from 1.25 of it on; or between",
)

# Figures 1, 2 and 7: the kernel at the start, at one input with |x|^2 = n_0
SAMPLE = text(
    "sample",
    "ours: our number of draws; paper: as few draws as the paper's; exact: no draws but a closed "
    "form, in place of ours",
)
LOG_MEAN = number("log_mean", "natural logarithm of E[Theta], the mean of the kernel")
DISPERSION = number(
    "dispersion", "E[Theta^2] / E[Theta]^2, mean square over squared mean of the kernel"
)
ERROR = number(
    "error",
    "standard error of the dispersion, 0 if it is exact",
    missing="the draws do not suffice for it",
)
DRAWS = integer("draws", "number of networks drawn, 0 if the dispersion is exact")
LAMBDA = number("lambda", "depth over width, L / M")
FORM = text(
    "form", "printed: Theorem 3.1 of beyond as the paper has it; corrected: without its mistakes"
)
LIMIT = number("dispersion", "limit of the dispersion for L, M to infinity at this L / M")

# Figures 5 and 6: infinitely wide networks
COVARIANCE = number("covariance", "covariance of the two inputs of kappa_2, over n_0")
LOG_KAPPA_1 = number(
    "log_kappa_1",
    "natural logarithm of kappa_1, the sum over layers of qhat^(l-1) p^l at one input",
)
LOG_KAPPA_2 = number(
    "log_kappa_2", "natural logarithm of kappa_2, the same sum for two inputs; -inf if it is 0"
)
LOG_RATIO = number("log_ratio", "natural logarithm of kappa_1 over kappa_2; inf if kappa_2 is 0")
KAPPA_2 = number("kappa_2", "kappa_2, or exp(700) if it is larger and could overflow")
KAPPA_RATIO = number(
    "kappa_ratio", "kappa_1 over kappa_2, or exp(700) if it is larger and could overflow"
)

# Theorem 5.3
KERNEL = text(
    "kernel",
    "constant: its entries are the means kappa_1 and kappa_2, as in the theorem; infinite_width: "
    "that of an infinitely wide network, with entries of its own",
)
VARIANCE = number(
    "variance",
    "variance of the trained output at a new input, over q^L; of a constant kernel that of drawn "
    "outputs, otherwise exact and a mean over datasets",
)
FORMULA = number(
    "formula",
    "the same variance by Theorem 5.3, for the means of the entries; of an infinitely wide "
    "network a mean over datasets",
)
VARIANCE_RATIO = number(
    "ratio", "variance over formula; of an infinitely wide network a mean over datasets"
)
VARIANCE_RATIO_ERROR = number("error", "standard error of the ratio")
OUTPUTS_OR_DATASETS = integer(
    "draws", "number of drawn outputs of a constant kernel, otherwise of datasets"
)

# trained networks
MAP = text("map", "shown: of the width that Figures 3 and 4 show; width: of another width")
SEED = integer(
    "seed", "number of the seed, whose standard normal numbers are those of all variances"
)
TIME = integer("time", "number of gradient descent steps", "step")
REACHED = integer(
    "reached",
    "number of steps after which the network was measured, below time if it had ended before",
    "step",
)
CHANGE = number(
    "change",
    "Frobenius norm of the change of the traced kernel, over that of the kernel at the start",
    missing="the network had diverged",
)
LOSS = number(
    "loss", "1/(2S) sum_s |f(x_s) - y_s|^2 over S images", missing="the network had diverged"
)
ETA_LAMBDA = number(
    "eta_lambda",
    "rate times largest eigenvalue of the kernel over S",
    missing="the network had diverged",
)
RATE = number("rate", "learning rate", missing="it is set by an undefined kernel")
STEPS_TAKEN = integer("steps_taken", "number of steps at which the network ended", "step")
METHOD = text(
    "method",
    "how the steps were made: steps, one by one; graded, several at once; flow; or 'flow, then "
    "graded'",
)
GRADIENTS = integer("gradients", "number of gradients computed")
FIRST_LOSS = number("first_loss", "loss at the start", missing="it is undefined")
LOWEST_LOSS = number("lowest_loss", "lowest finite loss; inf if there was none")
STOP_WINDOW = integer(
    "stop_window",
    "steps after which the lowest loss had not fallen for the time of the stopping rule; -1 if "
    "that was not met",
    "step",
)
STOP_EACH = integer(
    "stop_each",
    "steps after which every step had lowered the loss too little for the time of the stopping "
    "rule; -1 if that was not met",
    "step",
)
DIVERGED = integer("diverged", "1 if the loss became infinite or undefined, else 0")
CONSTANT_LOSS = number("constant_loss", "loss of the best constant output")
ETA_LAMBDA_AT_START = number(
    "eta_lambda",
    "rate times largest eigenvalue of the kernel over S at the start",
    missing="the network diverged at the start",
)
EXCEEDS = integer("exceeds", "1 if eta_lambda is above 2, else 0")

# means over the seeds of a cell
QUANTITY = text(
    "quantity",
    "change (of the kernel, over its norm at the start) or lowest_loss (reached in training, over "
    "that of the best constant output)",
)
ALL_DIVERGED = "all seeds diverged"
VALUE = number(
    "value", "mean of the quantity over seeds that did not diverge", missing=ALL_DIVERGED
)
LOWEST = number("lowest", "smallest value of the seeds that did not diverge", missing=ALL_DIVERGED)
HIGHEST = number("highest", "largest value of the seeds that did not diverge", missing=ALL_DIVERGED)
SEEDS = integer("seeds", "number of seeds")
SEEDS_DIVERGED = integer("diverged", "number of seeds that diverged")
SEEDS_STOPPED = integer("stopped", "number of seeds that had stopped before this number of steps")
MEAN_ETA_LAMBDA = number(
    "eta_lambda",
    "learning rate times largest eigenvalue of the kernel at the start, mean over seeds",
    missing="all seeds diverged at the start",
)
MEAN_LOWEST_LOSS = number(
    "loss",
    "lowest loss itself, mean over seeds that did not diverge",
    missing="the row is about the change, or all seeds diverged",
)

# what figures show
SOURCE = shared.SOURCE
STANDARD_ERROR = number(
    "standard_error",
    ERROR.meaning,
    missing="the draws do not suffice for it, or the row is a border of the phases",
)
CELL_OR_BORDER = text("series", "cell of a map, or border of the phases")
WHERE = number("sigma_w2", "weight variance; of a border, where it lies or the paper has it")
DEPTH_OF_CELL = number("depth", DEPTH.meaning, missing="the row is a border of the phases")
DISPERSION_OF_CELL = number(
    "dispersion", DISPERSION.meaning, missing="the row is a border of the phases"
)

CURVE_OR_LIMIT = text(
    "series",
    "many draws, exact, few draws (the paper's number), printed limit and corrected limit "
    "(Theorem 3.1 of beyond), or limit (which the paper states for the ordered phase)",
)
WIDTH_OF_CURVE = number("width", WIDTH.meaning, missing="the row is a limit")
DEPTH_OF_CURVE = number("depth", DEPTH.meaning, missing="the row is a limit")
DEPTH_OVER_WIDTH = number(
    "depth_over_width", LAMBDA.meaning, missing="the row is a limit at all of them"
)
ERROR_OF_CURVE = number(
    "standard_error",
    ERROR.meaning,
    missing="the draws do not suffice for it, or the row is a limit or of few draws",
)

PHASE_OF_PANEL = text("phase", "ordered, border or chaotic")
KAPPA = text("quantity", "kappa_2 or kappa_ratio (kappa_1 over kappa_2)")
KAPPA_VALUE = number("value", "the quantity; the paper's is a limit for L to infinity")
COVARIANCE_OF_CURVE = number(
    "covariance", COVARIANCE.meaning, missing="the row is the limit of the paper"
)
DEPTH_OF_KAPPA = number("depth", DEPTH.meaning, missing="the row is the limit of the paper")

SERIES = text(
    "series",
    "cell of a map; border of the phases; constant: the best constant output; or what the paper "
    "states: bound (of the change at the border) or untrained (depth at which most ordered "
    "networks do not learn)",
)
PHASE_OF_CELL = text("phase", f"of a cell: {CLEAR_PHASE.meaning}. none for other rows")
NO_CELL = "the row is no cell of a map"
SIGMA_W2_OF_CELL = number(
    "sigma_w2",
    "weight variance, of a cell or a border",
    missing="the row is neither a cell nor a border",
)
DEPTH_OF_MAP = number("depth", DEPTH.meaning, missing="the row is neither a cell nor untrained")
VALUE_OF_CELL = number(
    "value",
    "mean of the quantity over seeds that did not diverge; of a bound the bound",
    missing="all seeds diverged, or the row is a border or untrained",
)
LOWEST_OF_CELL = number(
    "lowest", LOWEST.meaning, missing=f"all seeds diverged, it is not shown, or {NO_CELL}"
)
HIGHEST_OF_CELL = number(
    "highest", HIGHEST.meaning, missing=f"all seeds diverged, it is not shown, or {NO_CELL}"
)
SEEDS_OF_CELL = number("seeds", SEEDS.meaning, missing=NO_CELL)
DIVERGED_OF_CELL = number("diverged", SEEDS_DIVERGED.meaning, missing=NO_CELL)
STOPPED_OF_CELL = number("stopped", SEEDS_STOPPED.meaning, missing=NO_CELL)
ETA_LAMBDA_OF_CELL = number(
    "eta_lambda",
    MEAN_ETA_LAMBDA.meaning,
    missing=f"all seeds diverged at the start, or {NO_CELL}",
)
LOSS_SHOWN = number(
    "loss",
    "lowest loss itself, mean over seeds that did not diverge; of the series constant, that of "
    "the best constant output",
    missing="the row is about neither, or all seeds diverged",
)
RATE_RULE = text("rate_rule", "common to all networks, or scaled to each of them")
