"""Columns of trained networks: the trainings of Figures 1 to 20, their models and heat maps.

H1 are the class means of the features, H2 their deviations from these, <h> is the global mean, M
the class means minus it, and W and b are weights and biases of the last layer. m is the number of
images of each of C classes.
"""

from dataclasses import replace

from finitewidth.declarations import columns as shared
from finitewidth.records.tables import integer, number, text

ACCURACY = "share of the {} images that are classified correctly"
DIVERGED_NETWORK = "the network diverged"
NO_BLOCKS = "the network diverged, or its kernel has no such blocks"
NO_MODEL = "no network was picked"

# Networks and their training
PAIR = text("pair", "network and dataset, the name of their section in the settings")
INIT = text("init", "initialisation: lecun, torch (PyTorch's default) or he")
REPLICA = integer("replica", "number of the network among those of the pair, from 0")
RATE_INDEX = integer(
    "rate_index", "number of the rate on the grid of rates, or among those given, from 0"
)
RATE = number("rate", "initial learning rate")
EPOCH = shared.TRAINING_EPOCH
TAU = number("tau", "sum over the steps so far of rate times weight decay, over 1 - momentum")
TRAIN_LOSS = number(
    "train_loss",
    "training loss, mean over the batches of the epoch as they were seen",
    missing=DIVERGED_NETWORK,
)
TRAIN_ACCURACY = number(
    "train_accuracy",
    f"{ACCURACY.format('training')}, mean over the batches of the epoch as they were seen",
    "fraction",
)
TRAIN_ACCURACY_LAST10 = number(
    "train_accuracy_last10",
    f"{ACCURACY.format('training')}, mean over the last ten batches so far",
    "fraction",
)
DIVERGED = integer("diverged", "1 if the loss of some step so far is not finite, else 0")
TEST_LOSS = number("test_loss", "mean loss of the test images", missing=DIVERGED_NETWORK)
TEST_ACCURACY = number("test_accuracy", ACCURACY.format("test"), "fraction")
NETWORK = text("network", "name of the network, with the number of its layers with weights")
PIXELS = integer("pixels", "height and width of the images that the network sees", "pixels")
PIXELS_SHOWN = number("pixels", PIXELS.meaning, PIXELS.unit)
TEST_IMAGES = integer("test_images", "number of test images of which accuracies are shares")
TEST_IMAGES_SHOWN = number("test_images", TEST_IMAGES.meaning)

# Neural collapse of a trained network, in eval mode on the last batch of an epoch
NC1 = number(
    "nc1",
    "NC1: standard deviation of a feature within a class, mean over classes and features",
    missing=DIVERGED_NETWORK,
)
NC1_RATIO = number(
    "nc1_ratio",
    "variance within classes over variance of class means, both summed over features",
    missing="the network diverged, or all class means are equal",
)
NC2 = number(
    "nc2",
    "NC2: distance of M^T M over its norm from a simplex equiangular tight frame",
    missing=NC1_RATIO.missing,
)
NC3 = number(
    "nc3",
    "NC3: distance of W^T and M, each over its norm",
    missing="the network diverged, all class means are equal, or W is 0",
)
NC4 = number(
    "nc4",
    "NC4: share of the images whose largest output is that of the nearest class mean",
    missing=DIVERGED_NETWORK,
)
E_NORM = number("e_norm", "norm of m E, with the invariant E of (26)", missing=NO_BLOCKS)
E_RELATIVE = number("e_relative", "norm of m E over that of W^T W", missing=NO_BLOCKS)
INVARIANT_ALIGNMENT = number(
    "invariant_alignment", "cosine of W^T W and B, where m E = W^T W - B", missing=NO_BLOCKS
)
RESIDUAL = number(
    "residual", "least norm of W^T W - c B over all c, over that of W^T W", missing=NO_BLOCKS
)
H1 = number("h1", "norm of H1 H1^T", missing=DIVERGED_NETWORK)
H2 = number(
    "h2", "norm of H2 H2^T, the sum of all products of deviations", missing=DIVERGED_NETWORK
)
HBAR = number("hbar", "norm of <h> <h>^T", missing=DIVERGED_NETWORK)
ALPHA_C = number("alpha_c", "alpha C, with the alpha of (26)", missing=NO_BLOCKS)
BIAS_GAP = number("bias_gap", "largest |b_c - 1/C| over classes c", missing=DIVERGED_NETWORK)
DEAD = number(
    "dead", "number of features that are 0 for every image of the batch", missing=DIVERGED_NETWORK
)
COLLAPSE = (
    *(NC1, NC1_RATIO, NC2, NC3, NC4, E_NORM, E_RELATIVE, INVARIANT_ALIGNMENT, RESIDUAL),
    *(H1, H2, HBAR, ALPHA_C, BIAS_GAP, DEAD),
)

# Kernels of a trained network; blocks of the kernel of one feature (kappa) or output (gamma)
BLOCK = "mean of the tangent kernel of {} over {}, mean over {}"
KAPPA_D = number(
    "kappa_d", BLOCK.format("a feature", "an image with itself", "features"), missing=NO_BLOCKS
)
KAPPA_C = number(
    "kappa_c", BLOCK.format("a feature", "two images of one class", "features"), missing=NO_BLOCKS
)
KAPPA_N = number(
    "kappa_n",
    BLOCK.format("a feature", "two images of different classes", "features"),
    missing=NO_BLOCKS,
)
GAMMA_D = number(
    "gamma_d", BLOCK.format("an output", "an image with itself", "outputs"), missing=NO_BLOCKS
)
GAMMA_C = number(
    "gamma_c", BLOCK.format("an output", "two images of one class", "outputs"), missing=NO_BLOCKS
)
GAMMA_N = number(
    "gamma_n",
    BLOCK.format("an output", "two images of different classes", "outputs"),
    missing=NO_BLOCKS,
)
NO_ALIGNMENT = "the network diverged, or the kernel is 0"
ALIGNMENT_THETA = number(
    "alignment_theta",
    "cosine of the kernel Theta, summed over outputs, and that of the labels",
    missing=NO_ALIGNMENT,
)
ALIGNMENT_THETA_H = number(
    "alignment_theta_h",
    "cosine of the kernel Theta^h, summed over features, and that of the labels",
    missing=NO_ALIGNMENT,
)
KERNELS = (
    *(KAPPA_D, KAPPA_C, KAPPA_N, GAMMA_D, GAMMA_C, GAMMA_N),
    *(ALIGNMENT_THETA, ALIGNMENT_THETA_H),
)

# Figures 2 to 12: networks at the end, and the models that are picked among them
MODEL = text("model", "collapsed: the picked network close to collapse; other: that far from it")
PICKED = text(
    "picked",
    "collapsed or other: the network is this model of its initialisation",
    missing="the network is not picked",
)
TRAINED = integer(
    "trained", "1 if the training accuracy reaches that from which a network counts, else 0"
)
KERNEL_PER_CLASS = integer("per_class", "images of each class in the kernels")
FOUND = integer("found", "1 if a network was picked, else 0")
CONDITION = text("step", "condition on the accuracies that a network met; none if no network did")
TRIED = integer("tried", "number of networks that met this condition, or the last one tried")
PICKED_NETWORK = (
    *(replace(column, type="number", missing=NO_MODEL) for column in (RATE_INDEX, RATE, REPLICA)),
    replace(TEST_ACCURACY, missing=NO_MODEL),
    replace(TRAIN_ACCURACY, missing=NO_MODEL),
    *(replace(column, missing=NO_MODEL) for column in (NC1_RATIO, NC2, NC3)),
    replace(ALIGNMENT_THETA_H, missing=f"{NO_MODEL}, or its kernel is 0"),
)
QUANTITY = text("quantity", "which measure of the training, by the name of its column")
QUANTITY_AT_END = text(
    "quantity",
    "which measure of the training, by the name of its column; kappa_ratio and gamma_ratio: the "
    "kernel kappa or gamma of two images of one class over that of different classes",
)
NOT_MEASURED = "the kernel has no such blocks, or is 0"
MEASURE = number("value", "value of the measure", missing=NOT_MEASURED)
SMOOTH_MEASURE = number(
    "smooth",
    "value smoothed over the epochs by the filter of Savitzky and Golay; the value itself if there "
    "are few epochs or one has no value",
    missing=NOT_MEASURED,
)
FITTING_EPOCH = number(
    "epoch",
    "first epoch whose last ten batches have at least the training accuracy threshold",
    "epoch",
    missing="there is none",
)
THRESHOLD = number(
    "threshold", "training accuracy from which a network fits the images", "fraction"
)

# Figures 1 and 13 to 20: heat maps of kernels
KERNEL = text("kernel", "theta: the kernel of the outputs; theta_h: that of the features")
NOT_FINITE = "the kernel is not finite"
IMAGE_ROW = integer("row", "place of the first image, from 0; images are grouped by class")
IMAGE_COLUMN = shared.IMAGE_COLUMN
UNIT_ROW = integer("row", "number of the first output or feature, from 0")
UNIT_COLUMN = integer(
    "column", "number of the second output or feature, not before the first: maps are symmetric"
)
CLASS_ROW = shared.CLASS_ROW
CLASS_COLUMN = shared.CLASS_COLUMN
TRACED = number(
    "value", "kernel of both images, summed over outputs or features", missing=NOT_FINITE
)
UNIT_NORM = number(
    "value",
    "Frobenius norm of the kernel of both outputs or features over all images",
    missing=NOT_FINITE,
)
SHARE = number(
    "share",
    "value over the quantile 99.5 % of its map, or over its largest entry if that is not above 0",
    missing="the kernel is 0 or not finite",
)
MAP_PER_CLASS = integer("per_class", "images of each class in the maps")
DIAGONAL = number(
    "diagonal",
    "kernel of an image with itself, mean over images and outputs or features",
    missing=NOT_FINITE,
)
SAME_CLASS = number(
    "same_class",
    "kernel of two images of one class, mean over pairs and outputs or features",
    missing=NOT_FINITE,
)
OTHER_CLASS = number(
    "other_class",
    "kernel of two images of different classes, mean over pairs and outputs or features",
    missing=NOT_FINITE,
)
BLOCK_RATIO = number(
    "ratio", "same_class over other_class", missing="both means of the kernel are 0"
)
NORM_RATIO = number(
    "norm_ratio",
    "median norm of the kernel of two outputs or features over the median norm of that of one",
    missing="the median norm of the kernel of one is 0",
)
NORM_OVER_SMALLER = number(
    "norm_over_smaller",
    "norm of the kernel of two outputs or features over the smaller norm of that of one of them, "
    "median over pairs of which neither is 0",
    missing="there is no such pair",
)
CHOICE = text(
    "choice",
    "why this network: printed, its rate is that of the paper's caption; collapsed, it is the "
    "picked one; best, it has the best test accuracy",
)
ALIGNMENT = number(
    "value",
    "cosine of the kernel and that of the labels, on the batch of training",
    missing=NO_ALIGNMENT,
)
INIT_OF_MAPS = text("initialisation", INIT.meaning)
PANE_OF_MAPS = text("panel", "letter of the pane; a to d are maps, e are curves")
OF_CURVES = "the row is of a curve"
OF_MAPS = "the row is of a map"
NO_CLASS = "the row is of a curve, or of a map of outputs or features"
ROW_SHOWN = number("row", "place of the first image, output or feature, from 0", missing=OF_CURVES)
COLUMN_SHOWN = number(
    "column",
    "place of the second one, not before the first: maps are symmetric",
    missing=OF_CURVES,
)
CLASS_ROW_SHOWN = number("class_row", "class of the first image, in a and b", missing=NO_CLASS)
CLASS_COLUMN_SHOWN = number(
    "class_column", "class of the second image, in a and b", missing=NO_CLASS
)
SHARE_SHOWN = number(
    "share",
    "entry of a map over the 99.5th percentile of its entries",
    missing=f"{OF_CURVES}, or {SHARE.missing}",
)
EPOCH_OF_CURVE = number("epoch", "epoch of the training, in e", "epoch", missing=OF_MAPS)
ALIGNMENT_SHOWN = number(
    "alignment",
    "cosine of the traced kernel and that of the labels, in e",
    missing=f"{OF_MAPS}, or {NO_ALIGNMENT}",
)

# Data files of Figures 2 to 12
PANE = text(
    "panel",
    "letter of the pane; lines: an epoch at which a network fits the training images; legend: "
    "what the legend says of a picked network",
)
SOURCE = shared.SOURCE
INITIALISATION = text(
    "initialisation", "lecun, torch (PyTorch's default) or he; none for a constant"
)
MODEL_OR_NONE = text("model", "collapsed or other: a picked network; none: another network")
QUANTITY_SHOWN = text("quantity", "what the value is, named as in the tables of collapse_models")
RATE_SHOWN = number(
    "rate", RATE.meaning, missing="no network was picked, or the row is of the ends or of lines"
)
EPOCH_SHOWN = number(
    "epoch", EPOCH.meaning, EPOCH.unit, missing="the value is that at the end of the training"
)
VALUE_SHOWN = number(
    "value",
    "the value; accuracies in percent",
    missing=f"{NO_MODEL}, the network diverged, or {NOT_MEASURED}",
)
SMOOTH_SHOWN = number(
    "smooth",
    "the value after smoothing along the epochs",
    missing=f"the row is of no curve over the epochs, or {NOT_MEASURED}",
)
TRAIN_ACCURACY_SHOWN = number(
    "train_accuracy",
    "training accuracy in the last epoch, over rates",
    "percent",
    missing="the row is not of a pane over rates",
)
