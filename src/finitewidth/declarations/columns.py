"""Columns that tables of several papers have with one meaning."""

from finitewidth.records.tables import integer, number, text

# Runs and their means
EPOCH = integer("epoch", "epoch of the training; 0 is before the first", "epoch")
SEED = integer("seed", "number of the run, from which its random numbers follow")
RUNS = integer("runs", "number of runs in the mean")
DIVERGED_RUNS = integer("diverged", "number of runs left out, because they diverged")
FAILED_RUNS = integer("failed", "number of runs left out, because their value is not finite")
SPREAD = number(
    "spread",
    "sample standard deviation over runs",
    missing="fewer than two runs have a finite value",
)

# Stacks of trained networks, and their accuracies
ROW = text("row", "row of a table, or part of a figure, that the training belongs to")
REGIME = text("regime", "gate regime, see finitewidth.networks.regimes")
STAGE = number(
    "stage",
    "stage of an earlier training from which the gates are, from 1; 0: random gates",
    missing="the training has no stages",
)
BETA = number("beta", "slope beta of the soft gates", missing="no soft gates")
EPS = number("eps", "offset eps of the soft gates", missing="no soft gates")
VARIANT = text("variant", "training images: original, or how they were altered")
STEP_SIZE = number("step_size", "step size of the optimiser")
EPOCHS = integer("epochs", "number of epochs of the training", "epoch")
BEST_TEST = number("best_test", "highest test accuracy of any epoch", "fraction")
CROSS_FITTED = number(
    "cross_fitted",
    "test accuracy at the best epoch of the other half of the test images, mean of both halves",
    "fraction",
)
LAST = number("last", "test accuracy after the last epoch", "fraction")
TRAIN_LAST = number("train_last", "train accuracy during the last epoch", "fraction")
BEST_TRAIN = number("best_train", "highest train accuracy of any epoch", "fraction")
DIVERGED = integer("diverged", "1 if the train loss was not finite in some epoch, else 0")
TRAINED_RUN = integer(
    "trained",
    "1 if the run did not diverge and reached the train accuracy that counts as trained, else 0",
)

# Histories of trainings
TRAIN_LOSS = number("train_loss", "mean loss of the batches of this epoch", missing="it diverged")
TRAIN_ACCURACY = number("train_accuracy", "train accuracy during this epoch", "fraction")
TEST_LOSS = number("test_loss", "mean loss of the test images", missing="it diverged")
TEST_ACCURACY = number("test_accuracy", "test accuracy after this epoch", "fraction")
TEST_ACCURACY_FIRST = number(
    "test_accuracy_first",
    "test accuracy on the test images of even number, the first half",
    "fraction",
)
TEST_ACCURACY_SECOND = number(
    "test_accuracy_second",
    "test accuracy on the test images of odd number, the second half",
    "fraction",
    missing="there is a single test image",
)
DIVERGED_IN_EPOCH = integer(
    "diverged", "1 if the train loss of this epoch, or a given gate, is not finite, else 0"
)

# nu of a kernel
NU = number(
    "nu",
    "nu, y' (K / tr K)^-1 y for the labels y and the kernel K of the images",
    missing="the kernel has no inverse, or the training diverged",
)
CONDITION_NUMBER = number(
    "condition_number",
    "condition number of the matrix that was inverted",
    missing="there is no nu",
)
RIDGE_OF_NU = number("ridge", "ridge that the inverse needed, in units of the mean eigenvalue")
PROBLEM = text(
    "problem", "why the kernel needed a ridge, or has no nu", missing="the kernel was inverted"
)
MEAN_NU = number("y", "mean over runs of nu", missing="no run has a finite value")
RIDGED_RUNS = integer("ridged", "number of runs with a value of nu that needed a ridge")
LARGEST_CONDITION_NUMBER = number(
    "condition_number",
    "largest condition number of the inverted matrices, over runs",
    missing="no run has a value of nu",
)

# Numbers that stand only in the text of a paper
QUANTITY = text("quantity", "quantity of the printed number, as in config/reported")
PRINTED_ROW = text("row", "row of the printed number, as in config/reported")
PRINTED_COLUMN = text("column", "column of the printed number, as in config/reported")
MEAN_ACCURACY = number(
    "mean", "our accuracy or gain, mean over runs", "percent", missing="all runs diverged"
)
SPREAD_OF_ACCURACY = number(
    "spread",
    "sample standard deviation of our accuracy or gain over runs",
    "percent",
    missing="fewer than two runs did not diverge",
)
SELECT = text(
    "select",
    "epoch of our accuracy: best_test (highest test accuracy), cross_fitted (chosen on the other "
    "half of the test images), last; or train_last (train accuracy of the last epoch)",
)
PRINTED = number("reported", "number that the paper prints", "percent")
PLACE = text("place", "where the paper prints the number")

# Equations
ARTIFACT = text("artifact", "table or figure that the equation belongs to")
EQUATION = text("row", "what the equation computes; note: a line below the table")
NETWORK_OF_EQUATION = text(
    "column", "network that the equation belongs to", missing="there is one network, or a note"
)
EQUATION_AS_TEXT = text("text", "equation or note as plain text")
EQUATION_IN_LATEX = text("latex", "equation or note in LaTeX")
PRINTED_AS_TEXT = text(
    "printed_text",
    "right-hand side that the paper prints, as plain text",
    missing="it is printed as here",
)
PRINTED_IN_LATEX = text(
    "printed_latex", "right-hand side that the paper prints, in LaTeX", missing="likewise"
)

# Tangent kernels of small networks, and their errors in gradient descent
FIGURE = text("figure", "figure that shows these runs")
NETWORK = text("network", "kind of network")
WIDTH = integer("width", "units of each hidden layer")
DEPTH = integer("depth", "number of layers of weights")
RUN = integer("run", "number of the run")
DYNAMICS = text("dynamics", "gradient descent, or linear recursion: the kernel held fixed")
TIME = integer("time", "number of steps of gradient descent", "step")
INDEX = integer("index", "number of the eigenvalue in ascending order, from 1")
RHO_MAX = number("rho_max", "largest eigenvalue of the kernel K_0 at the start")
RHO_MIN = number("rho_min", "smallest eigenvalue of the kernel K_0 at the start")
TRACE_OVER_RHO_MAX = number("trace_over_rho_max", "trace of K_0 over its largest eigenvalue")
GROWTH = number(
    "growth",
    "trace of the kernel after gradient descent, over that before",
    missing="the run did not descend, or it diverged",
)
RATIO = number(
    "ratio",
    "squared error over that at the start, |e_t|^2 / |e_0|^2",
    missing="the run diverged",
)
MEAN_RATIO = number("ratio", "squared error over that at the start, mean over runs")
RATIO_SPREAD = number(
    "ratio_spread", "sample standard deviation of the ratio over runs", missing="a single run"
)
LOG_RATIO = number("log_ratio", "decadic logarithm of the ratio, mean over runs")
LOG_RATIO_SPREAD = number(
    "log_ratio_spread",
    "sample standard deviation over runs of the decadic logarithm of the ratio",
    missing="a single run",
)
CUMULATIVE = number("cumulative", "sum of the eigenvalues of K_0/d up to this one, mean over runs")
SCALED = number("scaled", "sum of the eigenvalues of K_0/rho_max up to this one, mean over runs")
CUMULATIVE_SPREAD = number(
    "cumulative_spread",
    "sample standard deviation over runs of the sum of eigenvalues of K_0/d",
    missing="a single run",
)
SCALED_SPREAD = number(
    "scaled_spread",
    "sample standard deviation over runs of the sum of eigenvalues of K_0/rho_max",
    missing="a single run",
)

# Variances of random networks
SIGMA_W2 = number("sigma_w2", "sigma_w^2, variance of a weight at the start times its fan-in")
SIGMA_B2 = number("sigma_b2", "sigma_b^2, variance of a bias at the start")

# of several papers
NO_RUN = "all runs diverged"
IMAGE_ROW = integer("row", "place of the first image; images are sorted by class")
IMAGE_COLUMN = integer(
    "column", "place of the second image, not before the first: maps are symmetric"
)
CLASS_ROW = integer("class_row", "class of the first image")
CLASS_COLUMN = integer("class_column", "class of the second image")
TRAINING_EPOCH = integer("epoch", "epoch of the training", "epoch")
SOURCE = text("source", "ours or paper")
BEST_TRAIN_ACCURACY = number(
    "train_accuracy",
    "highest train accuracy of any epoch, mean over runs",
    "fraction",
    missing=NO_RUN,
)
LOWEST_TRAIN_ACCURACY = number(
    "train_accuracy_lowest",
    "highest train accuracy of any epoch, of the run with the lowest one",
    "fraction",
)
EPOCH_OF_CURVE = integer("x", "epoch of the training", "epoch")
IMAGES = text(
    "data",
    "images of the accuracy: ours with what they stand in for; the paper's name its dataset",
)
OURS_OR_PRINTED = text("source", "ours, or paper (as printed)")
TRAIN_ACCURACY_PERCENT = number(
    "train_accuracy", BEST_TRAIN_ACCURACY.meaning, "percent", missing=NO_RUN
)
LOWEST_TRAIN_ACCURACY_PERCENT = number(
    "train_accuracy_lowest", LOWEST_TRAIN_ACCURACY.meaning, "percent"
)
