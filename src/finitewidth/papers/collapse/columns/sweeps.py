"""Columns of trainings at equal tau: those of collapse_extra_decay and collapse_extra_length."""

from finitewidth.papers.collapse.columns.networks import DIVERGED_NETWORK, RATE
from finitewidth.records.tables import integer, number, text

NO_NETWORK = "no network fits the training images"
NO_CELL = "the row is not of the panel cell"
ONE_NETWORK = "fewer than two networks fit the training images"
NO_INTERVAL = "fewer than two seeds have a value, or all have the same"

SWEEP = text("sweep", "name of the trainings: vgg, resnet, fully_connected or patches")
DATA = text("data", "dataset of the papers whose images are trained: mnist or cifar10")
NORMALISED = integer("normalised", "1 with batch normalisation, 0 without")
SEED = integer("seed", "number of the seed of weights and batches, from 0")
EPOCHS = integer("epochs", "passes over the training images", "epoch")
DECAY = number("decay", "coefficient of the weight decay")
RATES = number("rates", "sum over all steps of the rate, over 1 - momentum")
TAU = number("tau", "sum over all steps of rate times weight decay, over 1 - momentum")
INTRINSIC_RATE = number("intrinsic_rate", "initial rate times weight decay, over 1 - momentum")
OVERLAP = number(
    "overlap",
    "<W, W0> / |W0|^2 of the last layer W with itself at the start, W0",
    missing=DIVERGED_NETWORK,
)
IMBALANCE = number(
    "imbalance",
    "norm over hidden units of |ingoing weights|^2 - |outgoing weights|^2 of the last two layers, "
    "over that at the start",
    missing="the network has batch normalisation, or it diverged",
)
RUNS_OF_CELL = integer("seeds", "number of networks, which differ in their seed only")
FITTING_RUNS = integer("trained", "how many of them fit the training images")
OF_FITTING = "mean over the networks that fit the training images"
ERROR_OF = "standard error of {} over these networks"
NC3_MEAN = number("nc3", f"NC3, {OF_FITTING}", missing=NO_NETWORK)
NC3_ERROR = number("nc3_error", ERROR_OF.format("NC3"), missing=ONE_NETWORK)
OVERLAP_MEAN = number(
    "overlap",
    f"overlap of the last layer with itself at the start, {OF_FITTING}",
    missing=NO_NETWORK,
)
OVERLAP_ERROR = number("overlap_error", ERROR_OF.format("the overlap"), missing=ONE_NETWORK)
NO_IMBALANCE = "the networks have batch normalisation"
IMBALANCE_MEAN = number(
    "imbalance",
    f"imbalance of the last two layers over that at the start, {OF_FITTING}",
    missing=f"{NO_IMBALANCE}, or {NO_NETWORK}",
)
IMBALANCE_ERROR = number(
    "imbalance_error",
    ERROR_OF.format("the imbalance"),
    missing=f"{NO_IMBALANCE}, or {ONE_NETWORK}",
)
SWEEP_OR_JOINED = text(
    "sweep",
    f"{SWEEP.meaning}; with_normalisation: all with batch normalisation on MNIST as one",
)
AGAINST = text("against", "quantity with which NC3 is compared: tau, rates or decay")
ALL_SEEDS = integer("all_seeds", "seeds of the trainings")
SEEDS = integer("seeds", "seeds that have a value")
RANK_CORRELATION = number(
    "rank_correlation",
    "Spearman's rank correlation of NC3 and this quantity, mean over seeds",
    missing="no seed has one",
)
VALUE_OVER_SEEDS = number("value", "mean over seeds", missing="no seed has a value")
LOW = number("low", "lower end of the 95 % interval over seeds", missing=NO_INTERVAL)
HIGH = number("high", "upper end of the 95 % interval over seeds", missing=NO_INTERVAL)
SAME = integer("same", "1 if at least two seeds have a value and all have the same, else 0")
STRONGEST = number(
    "strongest",
    "size of the rank correlation if NC3 were in strict order, mean over seeds",
    missing="no seed has one",
)
EXPONENT_OF = text("exponent", "p (tau) or q (decay) of NC3 = c tau^p decay^q")
FORM_OF_FIT = text("form", "power: NC3 = c tau^p; exponential: NC3 = c exp(p tau)")
EXPONENT = number("exponent", "the p of the fit")
MISFIT = number("misfit", "root mean square of what the fit leaves of log NC3")
TAU_OF_FIT = number("tau", "tau of a point of the fitted curve")
NC3_OF_FIT = number("nc3", "NC3 of this point")
MECHANISM = text("quantity", "overlap or imbalance")
MEASURED = number("measured", "mean of the quantity over the networks up to the end of the fits")
PREDICTED = number("predicted", "what weight decay alone leaves: exp(-tau) or exp(-2 tau)")
CRITERION = text("criterion", "what is judged: a rank correlation, a power or a ratio")
AT_LEAST = number("at_least", "least value at which the criterion holds")
AT_MOST = number("at_most", "value below which the criterion holds")
OUTCOME = text("outcome", "holds, fails or undecided")
STATEMENT = text("statement", "a statement of docs/findings.md")
REFUTED_BY = text("refuted_by", "the first of its criteria that fails; none if none does")
ACROSS = text("across", "what differs: decay, or epochs for the length of training")
AT = number("at", "what is equal: the length in epochs, or the weight decay")
LEAST = number("least", "least weight decay or length that any of the networks has")
MOST = number("most", "largest weight decay or length that any of the networks has")
FACTOR = number(
    "factor",
    "NC3 at the least over NC3 at the largest, geometric mean over seeds",
    missing="no seed has both",
)
JUDGED = (CRITERION, SEEDS, VALUE_OVER_SEEDS, LOW, HIGH, SAME, AT_LEAST, AT_MOST, OUTCOME)
STATEMENTS = (STATEMENT, OUTCOME, REFUTED_BY)

# Their data files
PANEL_OF_DECAY = text(
    "panel",
    "cell: mean over seeds; rank: rank correlation; fit: a point of a fitted curve; decay_alone: "
    "a prediction",
)
SWEEP_SHOWN = text("sweep", "vgg, resnet, fully_connected, patches, or with_normalisation")
QUANTITY_OF_DECAY = text(
    "quantity",
    "column on the axis of a rank correlation; overlap or imbalance; power or exponential",
)
PANEL_OF_LENGTH = text(
    "panel", "cell: mean over seeds; spread: factor across weight decays or lengths"
)
ACROSS_SHOWN = text("across", "decay or epochs, for a spread; none for a mean")
EPOCHS_SHOWN = number(
    "epochs", EPOCHS.meaning, EPOCHS.unit, missing="the row is of a spread across lengths"
)
DECAY_SHOWN = number("decay", "weight decay", missing=NO_CELL)
DECAY_OF_LENGTH = number(
    "decay", "weight decay", missing="the row is of a spread across weight decays"
)
RATE_OF_CELL = number("rate", RATE.meaning, missing=NO_CELL)
RATES_SHOWN = number("rates", RATES.meaning, missing=NO_CELL)
TAU_OF_LENGTH = TAU
TAU_SHOWN = number("tau", TAU.meaning, missing="the row is a rank correlation")
INTRINSIC_RATE_SHOWN = number(
    "intrinsic_rate", INTRINSIC_RATE.meaning, missing="the row is of a spread"
)
TRAINED_SHOWN = number(
    "trained", "networks that fit the training images, of the seeds", missing=NO_CELL
)
SEEDS_OF_LENGTH = number("seeds", "networks, or seeds of a spread")
SEEDS_SHOWN = number(
    "seeds", "networks, or seeds of a mean", missing="the row is of a fit or a prediction"
)
NC3_SHOWN = number(
    "nc3",
    "distance of last-layer weights and class means",
    missing=f"the row is neither of a cell nor of a fit, or {NO_NETWORK}",
)
NC3_ERROR_SHOWN = number(
    "nc3_error",
    "standard error of nc3 over seeds",
    missing=f"{NO_CELL}, or {ONE_NETWORK}",
)
OVERLAP_SHOWN = number(
    "overlap",
    "of the last layer with itself at the start",
    missing=f"{NO_CELL}, or {NO_NETWORK}",
)
OVERLAP_ERROR_SHOWN = number(
    "overlap_error",
    "standard error of overlap over seeds",
    missing=f"{NO_CELL}, or {ONE_NETWORK}",
)
IMBALANCE_SHOWN = number(
    "imbalance",
    "of the last two layers, over that at the start",
    missing=f"{NO_CELL}, {NO_NETWORK}, or they have batch normalisation",
)
IMBALANCE_ERROR_SHOWN = number(
    "imbalance_error",
    "standard error of imbalance over seeds",
    missing=f"{NO_CELL}, {ONE_NETWORK}, or they have batch normalisation",
)
VALUE_OF_DECAY = number(
    "value",
    "rank correlation with NC3, exponent of a fit, or prediction",
    missing="the row is a mean over seeds, or no seed has a rank correlation",
)
NO_RANK = "the row is no rank correlation"
LOW_SHOWN = number("low", LOW.meaning, missing=f"{NO_RANK}, or {NO_INTERVAL}")
HIGH_SHOWN = number("high", HIGH.meaning, missing=f"{NO_RANK}, or {NO_INTERVAL}")
SAME_SHOWN = number(
    "same", "1 if a rank correlation is the same in all its seeds, else 0", missing=NO_RANK
)
ALL_SEEDS_SHOWN = number(
    "all_seeds",
    "seeds of the sweep; some may lack networks for the statistic",
    missing=NO_RANK,
)
STRONGEST_SHOWN = number(
    "strongest",
    "size of the rank correlation if NC3 were in strict order",
    missing=f"{NO_RANK}, or no seed has one",
)
MISFIT_SHOWN = number("misfit", MISFIT.meaning, missing="the row is of no fit")
NO_SPREAD = "the row is a mean over seeds"
LEAST_SHOWN = number("least", "least decay or length of a spread", missing=NO_SPREAD)
MOST_SHOWN = number("most", "largest decay or length of a spread", missing=NO_SPREAD)
FACTOR_SHOWN = number("factor", FACTOR.meaning, missing=f"{NO_SPREAD}, or {FACTOR.missing}")
LOW_FACTOR = number(
    "low",
    "lower end of the 95 % interval of the factor over seeds",
    missing=f"{NO_SPREAD}, or {NO_INTERVAL}",
)
HIGH_FACTOR = number(
    "high",
    "upper end of the 95 % interval of the factor over seeds",
    missing=f"{NO_SPREAD}, or {NO_INTERVAL}",
)
