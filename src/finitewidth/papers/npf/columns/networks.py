"""Columns of trained networks: Table 2, Figure 3, the energy of the labels and the CNTK."""

from finitewidth.declarations import columns as shared
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
TRAIN_ACCURACY_PERCENT = shared.TRAIN_ACCURACY_PERCENT
LOWEST_TRAIN_ACCURACY_PERCENT = shared.LOWEST_TRAIN_ACCURACY_PERCENT
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

# The data file of Table 2
NETWORK_OF_ROW = text("network", "FC (fully connected), VCONV or GCONV (convolutional)")
OPTIMISER_OF_ROW = text("optimiser", "SGD or Adam")
GATES_OF_CELL = text("regime", "gates: frnpf_ii, frnpf_di (random), dlnpf, flnpf or relu (learnt)")
EPOCH_OF_ACCURACY = text(
    "epoch",
    "epoch of our accuracy: best_test (highest test accuracy), cross_fitted (chosen on the other "
    "half of the test images) or last; none for the paper",
)
CELL_MEAN = number(
    "mean", "test accuracy, mean over runs", "percent", missing="all of our runs diverged"
)
CELL_SPREAD = number(
    "standard_deviation",
    "standard deviation of the test accuracy over runs: ours in the sample form, the paper's in "
    "the population form",
    "percent",
    missing="fewer than two runs of ours did not diverge",
)
CELL_RUNS = integer("runs", "number of runs that are averaged")
COMPARED = integer(
    "compared",
    "1 if this accuracy is compared with the paper's, 0 if not: another epoch, other data or sizes",
)
DIFFERENCE_SHOWN = number(
    "difference",
    "our mean minus the paper's",
    "percentage points",
    missing="they are not compared, or all of our runs diverged",
)
DIFFERENCE_SE_SHOWN = number(
    "difference_standard_errors",
    "the difference in combined standard errors",
    missing="they are not compared, or there is no standard error",
)
BOLD = integer(
    "bold",
    "1 for our highest mean of a line, for all below it by at most the larger of both standard "
    "deviations, and for what the paper prints in bold; else 0",
)
LOWEST_TRAIN_SHOWN = number(
    "train_accuracy_lowest",
    "highest train accuracy of any epoch, of the run with the lowest one",
    "percent",
    missing="the paper's number",
)
TRAINED_FROM_SHOWN = number(
    "trained_from",
    "train accuracy from which a run counts as trained",
    "percent",
    missing="the paper's number",
)
CELL_TRAINED = number(
    "trained", "1 if every run is trained, 0 if not", missing="the paper's number"
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
TRAIN_ACCURACY = shared.BEST_TRAIN_ACCURACY
LOWEST_TRAIN_ACCURACY = shared.LOWEST_TRAIN_ACCURACY
SERIES_OF_NU = text("series", "nu, the only curve")
EPOCH_OF_CURVE = shared.EPOCH_OF_CURVE
TRACE_KV = number("trace_kv", "trace of K^v, the kernel of the values", missing="diverged")
TRACE_KF = number("trace_kf", "trace of K^f, the kernel of the features", missing="diverged")
FROBENIUS_KV = number("frobenius_kv", "Frobenius norm of K^v", missing="diverged")
FROBENIUS_KF = number("frobenius_kf", "Frobenius norm of K^f", missing="diverged")
SERIES_OF_SIZES = text("series", "size and kernel: trace or Frobenius norm of K^v or K^f")
SIZE_OF_KERNEL = number(
    "y", "trace or norm of the kernel, mean over runs", missing="all runs diverged"
)

# The data file of Figure 3
PANEL_SHOWN = text("panel", "stages (accuracy by stage), nu, or sizes (of the kernels)")
ACCURACY_SOURCE = text("source", "ours, or paper (the values printed, for CIFAR-10)")
SERIES_SHOWN = text("series", "what the curve or the reference line shows")
STAGE_SHOWN = number(
    "stage",
    "stage up to which the gates have learnt",
    missing="no stage, or a reference line: a cell of Table 2, or a number of the paper",
)
EPOCH_SHOWN = number("epoch", "epoch of the training", "epoch", missing="the row is of stages")
ACCURACY_SHOWN = number(
    "accuracy",
    "mean over runs of the test accuracy",
    "fraction",
    missing="the row is not of stages, or all runs diverged",
)
NU_SHOWN = number(
    "nu",
    "mean over runs of nu_t, the energy of the labels in the inverse kernel",
    missing="the row is not of nu, or no run has a value",
)
SIZE_SHOWN = number(
    "size",
    "mean over runs of the trace or of the Frobenius norm of a kernel",
    missing="the row is not of sizes, or all runs diverged",
)
SPREAD_SHOWN = number(
    "standard_deviation",
    "sample standard deviation over runs of the accuracy, nu or size",
    missing="the paper's value, or fewer than two runs have one",
)
READING_ERROR = number(
    "reading_error",
    "error of reading the paper's value off its picture",
    "fraction",
    missing="ours, or the paper prints the number",
)
RUNS_SHOWN = number("runs", "number of runs with a value", missing="the paper gives none")
RIDGED_SHOWN = number(
    "ridged",
    "number of runs whose kernel could only be inverted with a ridge",
    missing="the row is not of nu",
)
TRAINED_SHOWN = number(
    "trained",
    "1 if every run reached the train accuracy that counts as trained, 0 if not",
    missing="the row is not of stages, or the paper's",
)

# Energy of the labels
ENERGY_PANEL = text(
    "panel",
    "energy: share of |y|^2 by number of eigenvectors; nu: their part of nu; top: energy by epoch",
)
ENERGY_SERIES = text(
    "series", "epoch, or number of first eigenvectors; by chance: labels without a direction"
)
ENERGY_X = integer(
    "x", "number of eigenvectors, those of the largest eigenvalues first; in panel top the epoch"
)
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

# Data files of figures and tables: what several of them have
SOURCE = shared.OURS_OR_PRINTED
IMAGES = shared.IMAGES
DIVERGED_SHOWN = number(
    "diverged", "number of runs that diverged and are left out", missing="the paper's number"
)

# The figure of the energy of the labels
ENERGY_PANEL_SHOWN = text(
    "panel", "energy, nu (both by number of eigenvectors) or top (energy by epoch)"
)
LABELS_OR_CHANCE = text("series", "labels, or by chance: labels without a preferred direction")
ENERGY_EPOCH = number("epoch", "epoch of the training", "epoch", missing="by chance")
EIGENVECTORS = integer("eigenvectors", "number k of first eigenvectors")
SHARE = number(
    "share",
    "mean over runs of the share of |y|^2 in the first k eigenvectors",
    missing="the row is of nu, or no run has a value",
)
PART_OF_NU = number(
    "nu",
    "mean over runs of what the first k eigenvectors add to nu_t",
    missing="the row is of a share, or no run has a value",
)
SHARE_SPREAD = number(
    "standard_deviation",
    "sample standard deviation over runs of the share or of nu",
    missing="by chance, or fewer than two runs have a value",
)

# The table of the CNTK
METHOD_SHOWN = text("method", "cntk, or the gate regime of a trained network, such as relu")
CNTK_IMAGES = text(
    "data",
    "images of the accuracy: ours with what they stand in for; the paper's name its dataset, of "
    "which it uses all",
)
TRAIN_IMAGES_SHOWN = number(
    "training_images", "number of training images", missing="the paper's number"
)
CNTK_RUNS = number(
    "runs", "number of runs that are averaged", missing="a kernel, or the paper's number"
)
CNTK_ACCURACY = number(
    "accuracy",
    "test accuracy; of networks the mean over runs, with the epoch chosen on the other half of the "
    "test images",
    "percent",
)
CNTK_STANDARD_ERROR = number(
    "standard_error",
    "standard error of our accuracy, over test images and, for networks, runs",
    "percent",
    missing="the paper's number, or a single run",
)
BEST_EPOCH_ACCURACY = number(
    "best_epoch_accuracy",
    "highest test accuracy of any epoch, mean over runs",
    "percent",
    missing="a kernel",
)
CNTK_TRAIN_ACCURACY = number(
    "train_accuracy",
    "highest train accuracy of any epoch, mean over runs",
    "percent",
    missing="a kernel",
)
CNTK_LOWEST_TRAIN = number(
    "train_accuracy_lowest",
    "highest train accuracy of any epoch, of the run with the lowest one",
    "percent",
    missing="a kernel",
)
CNTK_TRAINED_FROM = number(
    "trained_from",
    "train accuracy from which a run counts as trained",
    "percent",
    missing="a kernel",
)
CNTK_TRAINED = number("trained", "1 if every run is trained, 0 if not", missing="a kernel")
RIDGE_SHOWN = number(
    "ridge",
    "ridge of the kernel, in units of its mean diagonal",
    missing="a network, or the paper's number",
)
CONDITION_SHOWN = number(
    "condition_number",
    "condition number of the kernel with the ridge",
    missing="a network, or the paper's number",
)
