"""The columns of the tables of dgn, each once; those that npf has too are in declarations."""

from finitewidth.declarations import columns as shared
from finitewidth.records.tables import integer, number, text

NO_RUN = shared.NO_RUN
ONE_RUN = "fewer than two runs have a finite value"

# Trained networks: what all their figures and tables show
RUNS_SHOWN = integer("runs", "number of runs in the mean; 0 if it is no mean")
TRAIN_ACCURACY = shared.BEST_TRAIN_ACCURACY
LOWEST_TRAIN_ACCURACY = shared.LOWEST_TRAIN_ACCURACY
ALL_TRAINED = integer(
    "trained", "1 if every run reached the train accuracy that counts as trained, 0 if not"
)
ALL_TRAINED_SHOWN = number("trained", ALL_TRAINED.meaning, missing="the row is of the paper")
ALL_TRAINED_OF_CURVE = number("trained", ALL_TRAINED.meaning)
EPOCH_OF_CURVE = shared.EPOCH_OF_CURVE
TRAIN_IMAGES = integer(
    "train_images",
    "least number of images of which all train accuracies are whole shares: that of the training, "
    "or fewer if the accuracies are few",
)

# Figure 5: images, random labels and random pixels
EPOCHS_TO_99 = number(
    "epochs_to_99",
    "epochs until the train accuracy is 99 %, interpolated between epochs",
    "epoch",
    missing="it is never reached",
)
PANEL_OF_IMAGES = text(
    "panel",
    "mnist (train accuracy on the images), labels (on random labels), pixels (on random or "
    "permuted pixels) or test (test accuracy on the images)",
)
RELU_OR_GALU = text("series", "network: ReLU or GaLU")
SERIES_OF_IMAGES = text("series", "ReLU or GaLU; all for a value of the paper for both")
MEAN_ACCURACY_AT_EPOCH = number(
    "y", "train or test accuracy at this epoch, mean over runs", "fraction"
)
ACCURACY_SPREAD = number(
    "spread",
    "sample standard deviation over runs of the accuracy",
    "fraction",
    missing="a single run",
)
SOURCE_OF_ACCURACY = text("source", "ours, or paper, whose values are for MNIST")
EPOCH_OF_ACCURACY = number("epoch", EPOCH_OF_CURVE.meaning, "epoch", missing="a value of the paper")
RUNS_OF_ACCURACY = integer("runs", "number of runs in the mean; 0 for a value of the paper")
ACCURACY = number("accuracy", "train or test accuracy, mean over runs", "fraction")
ACCURACY_DEVIATION = number(
    "standard_deviation",
    ACCURACY_SPREAD.meaning,
    "fraction",
    missing="a single run, or a value of the paper",
)

# Figure 7: two digits, with gates adaptable, learnt or frozen
LAST_TRAIN_LOSS = number(
    "train_loss",
    "mean squared error on the train images during the last epoch",
    missing="the run diverged",
)
LAST_TEST_LOSS = number(
    "test_loss",
    "mean squared error on the test images after the last epoch",
    missing="the run diverged",
)
PANEL_OF_GATES = text("panel", "train, test, gates (learnt or not) or adaptable (or frozen)")
SERIES_OF_GATES = text("series", "network, named by its gates")
SPLIT = text("split", "images whose error it is: train or test")
MEAN_SQUARED_ERROR = number(
    "y", "mean squared error at this epoch, mean over runs", missing="no run has a finite value"
)
SQUARED_ERROR_SPREAD = number(
    "spread", "sample standard deviation over runs of the mean squared error", missing=ONE_RUN
)
TEST_ACCURACY_AT_EPOCH = number(
    "test_accuracy", "test accuracy at this epoch, mean over runs", "fraction"
)
TEST_IMAGES = integer("test_images", "number of test images")
EPOCH_SHOWN = shared.TRAINING_EPOCH
SQUARED_ERROR = number(
    "squared_error", MEAN_SQUARED_ERROR.meaning, missing=MEAN_SQUARED_ERROR.missing
)
SQUARED_ERROR_DEVIATION = number(
    "standard_deviation", SQUARED_ERROR_SPREAD.meaning, missing=ONE_RUN
)
TEST_IMAGES_SHOWN = number("test_images", TEST_IMAGES.meaning)

# Figure 8: nu of four kernels
PANEL_OF_KERNELS = text(
    "panel",
    "kernel and networks: gates and adaptable (of all trained weights, over its trace), ka (of the "
    "gating weights) or ka_hat (the same over its trace)",
)
SERIES_OF_KERNELS = SERIES_OF_GATES
NU_OF_KERNEL = number(
    "nu",
    "y' K^-1 y for the labels y and the kernel K of the panel",
    missing="the kernel cannot be inverted",
)
SERIES_WITH_START = text("series", "network, named by its gates, or the value at t = 0")
EPOCH_OR_NONE = number("x", EPOCH_OF_CURVE.meaning, "epoch", missing="the value at t = 0")
MEAN_NU_OF_KERNEL = number(
    "y",
    "mean over runs of y' K^-1 y for the labels y and the kernel K of the panel",
    missing="no run has a finite value",
)
NU_SPREAD = number(
    "spread",
    "sample standard deviation over runs of y' K^-1 y",
    missing=f"{ONE_RUN}, or the value at t = 0",
)
EPOCH_OR_NONE_SHOWN = number("epoch", EPOCH_OF_CURVE.meaning, "epoch", missing="the value at t = 0")
NU_SHOWN = number("nu", MEAN_NU_OF_KERNEL.meaning, missing=MEAN_NU_OF_KERNEL.missing)
NU_DEVIATION = number("standard_deviation", NU_SPREAD.meaning, missing=NU_SPREAD.missing)

# Table 4: deep linear, ReLU and soft-ReLU networks
NETWORK_OF_TABLE = text(
    "network", "name of the network in config/reported, such as soft_relu_eps0.1_beta8"
)
SELECTED_EPOCH = text(
    "select", "epoch of the test accuracy that is compared with the paper's, as in the settings"
)
BEST_TRAIN_MEAN = number(
    "best_train_mean",
    "highest train accuracy of any epoch, mean over runs",
    "fraction",
    missing=NO_RUN,
)
BEST_TRAIN_SPREAD = number(
    "best_train_spread",
    "highest train accuracy of any epoch, sample standard deviation over runs",
    "fraction",
    missing=ONE_RUN,
)
BEST_TEST_MEAN = number(
    "best_test_mean",
    "highest test accuracy of any epoch, mean over runs",
    "fraction",
    missing=NO_RUN,
)
BEST_TEST_SPREAD = number(
    "best_test_spread",
    "highest test accuracy of any epoch, sample standard deviation over runs",
    "fraction",
    missing=ONE_RUN,
)
CROSS_FITTED_MEAN = number(
    "cross_fitted_mean",
    "test accuracy at the best epoch of the other half of the test images, mean over runs",
    "fraction",
    missing=NO_RUN,
)
CROSS_FITTED_SPREAD = number(
    "cross_fitted_spread",
    "sample standard deviation over runs of the test accuracy at the best epoch of the other half",
    "fraction",
    missing=ONE_RUN,
)
LAST_MEAN = number(
    "last_mean",
    "test accuracy after the last epoch, mean over runs",
    "fraction",
    missing=NO_RUN,
)
LAST_SPREAD = number(
    "last_spread",
    "test accuracy after the last epoch, sample standard deviation over runs",
    "fraction",
    missing=ONE_RUN,
)
PRINTED_TRAIN = number(
    "reported_train",
    "train accuracy that the paper prints",
    "fraction",
    missing="the paper does not have this network",
)
PRINTED_TEST = number(
    "reported_test",
    "test accuracy that the paper prints",
    "fraction",
    missing="the paper does not have this network",
)
NETWORK_SHOWN = text("network", "linear (deep linear), relu or soft_relu")
IMAGES_SHOWN = shared.IMAGES
OURS_OR_PRINTED = shared.OURS_OR_PRINTED
SPLIT_OF_ACCURACY = text("split", "images of the accuracy: train or test")
EPOCH_OF_OURS = text(
    "epoch",
    "epoch of our accuracy: best_train or best_test (highest train or test accuracy), "
    "cross_fitted (chosen on the other half of the test images) or last; none for the paper",
)
MEAN_SHOWN = number(
    "mean",
    "accuracy: ours is a mean over runs",
    "fraction",
    missing="the paper does not have this network, or all of our runs diverged",
)
DEVIATION_SHOWN = number(
    "standard_deviation",
    "sample standard deviation over our runs",
    "fraction",
    missing="a single run, or a value of the paper",
)
RUNS_AVERAGED = number("runs", "number of runs that are averaged", missing="a value of the paper")
RUNS_LEFT_OUT = number(
    "diverged", "number of runs that diverged and are left out", missing="a value of the paper"
)

# Numbers that stand only in the text
ACCURACY_OF_RUN = number("value", "accuracy of the run", "percent")
BEST_TRAIN_PERCENT = number("best_train", "highest train accuracy of any epoch", "percent")
TRAIN_ACCURACY_PERCENT = shared.TRAIN_ACCURACY_PERCENT
LOWEST_TRAIN_ACCURACY_PERCENT = shared.LOWEST_TRAIN_ACCURACY_PERCENT

# Figures 1 and 2: fixed random gates
NETWORK_OR_IDEAL = text("network", "wide, narrow, or ideal for the expected kernel")
WIDTH_OR_NONE = number(
    "width", "units of each hidden layer", missing="the row is of the expected kernel"
)
SUM_OF_EIGENVALUES = number(
    "sum", "sum of the eigenvalues of the kernel over the depth, up to this one; mean over runs"
)
SUM_DEVIATION = number(
    "standard_deviation",
    "sample standard deviation over runs of this sum",
    missing="the expected kernel, or a single run",
)
RUNS_OR_EXPECTED = integer("runs", "number of runs in the mean; 0 for the expected kernel")
ENTRY = text("entry", "diagonal or off_diagonal entry of the kernel over the depth")
MEAN_ENTRY = number("mean", "the entry, mean over runs")
ENTRY_ERROR = number("standard_error", "standard error of the mean", missing="a single run")
EXPECTED_ENTRY = number("ideal", "the entry of the expected kernel")

# Figure 9 and Lemma 4.1: a circular convolution. Everything is counted from 1.
LAYER = integer("layer", "layer of the weight, from 1")
START = integer("start", "unit of the layer before at which the connection starts, from 1")
END = integer("end", "unit of the layer at which the connection ends, from 1")
TAP = integer("tap", "number of the weight of the layer, from 1")
PATH = integer("path", "number of the path, from 1")
BUNDLE = integer(
    "bundle", "number of the bundle of paths with the same weights, from 1, in their order"
)
TAPS = text("taps", "numbers of the weights of the path in its layers, such as 1 2 1")
UNITS = tuple(
    integer(f"unit_{layer}", f"unit of layer {layer} on the path, from 1; layer 0 are the inputs")
    for layer in range(5)
)
GATING = integer(
    "gating", "number of the gating network, from 0: all signs of its weights in order"
)
S = integer("s", "number of the first example, from 1")
S_PRIME = integer("s_prime", "number of the second example, from 1")
SHIFT = integer("shift", "number of units by which the second example is shifted circularly")
POOLED = number("pooled", "mean over all weights ±1 of the product of the outputs of both examples")
LEMMA = number("lemma", "the same mean as Lemma 4.1 has it, a sum over bundles of paths")
UNPOOLED = number(
    "unpooled", "mean over all weights ±1 of the inner product of the last layers of both examples"
)
KIND = text("kind", "connection, or path (one unit of it)")
LAYER_OF_UNIT = integer("layer", "layer of the unit, 0 for the inputs")
START_OR_NONE = number("start", START.meaning, missing="the row is of a path")
UNIT = integer("unit", "unit of the layer, from 1; for a connection the unit where it ends")
TAP_OR_NONE = number(
    "tap", "number of the weight, from 1, that leads into the unit", missing="the unit is an input"
)
PATH_OR_NONE = number("path", PATH.meaning, missing="the row is a connection")
STRENGTH = number(
    "strength", "number of the path's strength, from 1", missing="the row is a connection"
)

# Table 3: the networks that are compared
NAME = text("network", "name of the network")
NOTATION_MEANING = "the network as N(weights that make the gates, slope of the gates; weights)"
NOTATION_TEXT = text("text", f"{NOTATION_MEANING}, as plain text")
NOTATION_LATEX = text("latex", f"{NOTATION_MEANING}, in LaTeX's mathematics")
GATES_FROM = text("gates_from", "what makes the gates")
GATE_TEXT = text("gate_text", "set of the values of a gate, as plain text")
GATE_LATEX = text("gate_latex", "set of the values of a gate, in LaTeX's mathematics")
NETWORKS = integer("networks", "number of networks, each with dₙₑₜ weights")
NETWORKS_TRAINED = integer("trained", "number of networks whose weights are trained")
NOTATION_TEXT_SHOWN = text("notation_text", NOTATION_TEXT.meaning)
NOTATION_LATEX_SHOWN = text("notation_latex", NOTATION_LATEX.meaning)
NETWORKS_TRAINED_SHOWN = integer("networks_trained", NETWORKS_TRAINED.meaning)

# Figure 10: a deep linear network and one example
KERNEL = number("kernel", "tangent kernel K_0 at the start")
FIRST_RATIO = number(
    "first_ratio",
    "squared error after the first step over that at the start, e_1^2/e_0^2",
    missing="the error at the start is 0, or the run diverged",
)
STEPS_TO_HUNDREDTH = number(
    "steps_to_hundredth",
    "steps until e_t^2/e_0^2 is 0.01, interpolated between steps",
    "step",
    missing="it is never reached",
)
KERNEL_GROWTH = number(
    "kernel_growth",
    "kernel K_T after the last step, over K_0",
    missing="the run diverged",
)
MEAN_KERNEL = number("kernel", "tangent kernel K_0 at the start, mean over runs")
KERNEL_SPREAD = number(
    "kernel_spread", "sample standard deviation over runs of K_0", missing="a single run"
)
IDEAL_KERNEL = number("ideal", "mean of K_0 over all networks, which is the depth d")
QUANTITY_OVER_TIME = text(
    "quantity", "error (squared), kernel or weights (norm of all of them), each over that at time 0"
)
LINEAR_DYNAMICS = text(
    "dynamics",
    "gradient descent, linear recursion, or ideal for a kernel that stays at its expected value d",
)
VALUE = number("value", "the quantity, mean over runs")
VALUE_SPREAD = number(
    "value_spread",
    "sample standard deviation over runs of the quantity",
    missing="a single run, or the dynamics is ideal",
)
RUNS_OF_VALUE = number("runs", "number of runs in the mean", missing="the dynamics is ideal")
DIVERGED_OF_VALUE = number(
    "diverged",
    "number of runs left out, because they diverged",
    missing="the dynamics is ideal",
)
QUANTITY_SHOWN = text(
    "quantity",
    "start (kernel at the start), error (squared, over that at the start), kernel (over that at "
    "the start) or growth (of the norm of all weights, relative to the start)",
)
SOURCE = shared.SOURCE
DEPTH_OR_NONE = number(
    "depth", "number of layers of weights", missing="the value is of no one depth"
)
STEP = integer("step", "number of steps of gradient descent", "step")
VALUE_DEVIATION = number(
    "standard_deviation",
    "sample standard deviation over runs of the quantity",
    missing="none is drawn, or a single run",
)

# Networks without biases, and means over gates and weights
HIDDEN = integer("hidden", "number of hidden layers")
BIASES = integer("biases", "1 if the layers have biases, else 0")
LOWEST_LOSS = number(
    "lowest",
    "smallest sum of squared errors on (x, 1) and (2x, -1) at any step",
    missing="the training diverged",
)
FLOOR = number("floor", "least sum of squared errors of any network without biases, 9/5")
IDENTITY = text("identity", "statement of the paper: D03, Lemma 2.4, or D10, Corollary 8.1")
CASE = text("case", "what is averaged over random gates or weights, and the depth d")
EXPECTED = number("expected", "the mean that the paper states")
DRAWN_MEAN = number("value", "mean of the draws")
EXACT_ERROR = number(
    "standard_error", "standard error of the mean of the draws, from the exact variance"
)
DRAWS = integer("draws", "number of draws")
STATED_AT = text("place", "where the paper states the mean")
AVERAGED = text("quantity", "what is averaged over random gates and weights")
DRAWN_OR_STATED = text("source", "ours (averaged over draws), or paper (stated)")
MEAN = number("mean", "the mean")
ERROR_OF_OURS = number(
    "standard_error",
    "standard error of our mean, from the exact variance",
    missing="the mean is the paper's",
)
DRAWS_OF_OURS = number(
    "draws", "number of draws that we average", missing="the mean is the paper's"
)
