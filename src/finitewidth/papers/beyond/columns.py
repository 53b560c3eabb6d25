"""The columns of the tables of beyond, each once. Theta is the tangent kernel at initialisation."""

from finitewidth.declarations import columns as shared
from finitewidth.records.tables import flag, integer, number, text

# Networks
GROUP = text(
    "group",
    "figures that show the networks: phases (Figures 1, 7 and 9), near (near the edge of chaos, "
    "Figures 2, 8 and 10) or ratio (Figures 3 and 11)",
)
PHASE = text(
    "phase", "ordered (sigma_w^2 < 2), critical (the edge of chaos, sigma_w^2 = 2) or chaotic"
)
WIDTH_OR_LIMIT = integer("width", "M, units of each hidden layer; 0 for a limit M -> infinity")
ALPHA_0 = number("alpha_0", "n_0 / M, input dimension over width")
ALPHA_0_OF_LIMIT = number(
    "alpha_0", "n_0 / M, input dimension over width; of no effect in the chaotic phase"
)
SIGMA_W2 = number("sigma_w2", "sigma_w^2, variance of a weight times its fan-in")
LAMBDA = number("x", "lambda = L / M, depth over width")
LIMIT_OF_LAMBDA = number("x", "limit of L / M as both go to infinity")
LAMBDA_OF_SHAPE = number("x", "lambda = 2 L / (M1 + M2), depth over the mean of both widths")
COSINE = number("cosine", "cosine of both inputs x and x~")
COSINE_OF_CURVE = number("cosine", COSINE.meaning, missing="a curve of Theta(x, x)")

# Figures 1, 2 and 7 to 10: dispersions
SAMPLE = text("sample", "paper: as many networks as the paper has; many: more")
DRAWS = integer("draws", "number of networks drawn")
CURVE_OF_DISPERSION = text(
    "curve",
    "printed_limit or corrected_limit (Theorem 3.1), printed_sums (Theorem 3.2 in the form of its "
    "proof) or exact at finite width",
)
DISPERSION = number(
    "y", "dispersion r = E[Theta(x,x)^2] / E[Theta(x,x)]^2, in closed form by the curve"
)
DISPERSION_ESTIMATE = number(
    "y",
    "estimate of the dispersion r = E[Theta(x,x)^2] / E[Theta(x,x)]^2: leave-one-out with "
    "prefactor 1/N for the sample paper, mean square over squared mean for many",
)
DISPERSION_ERROR = number(
    "spread",
    "standard error of the estimate from exact moments; for the sample paper the larger one of it "
    "and of the bootstrap",
    missing="the draws do not suffice",
)
BOOTSTRAP = number(
    "bootstrap",
    "standard error from the draws alone, by bootstrap, of the sample paper",
    missing="the sample is many",
)
BANDED = flag("banded", "whether Figure 9 or 10 shows the row, with error bands")

# Figures 3, 7, 8 and 11: off-diagonal elements
PAIR_ESTIMATE = number(
    "y",
    "estimate of E Theta(x,x~) / E Theta(x,x) for the group ratio, otherwise of the dispersion "
    "E[Theta(x,x~)^2] / E[Theta(x,x~)]^2",
)
PAIR_ERROR = number(
    "spread", "standard error of the estimate", missing="the draws do not suffice for a dispersion"
)
CURVE_OF_PAIRS = text(
    "curve",
    "for the group ratio: printed (equation 18) or infinite_width (with both parts of the kernel); "
    f"otherwise: {CURVE_OF_DISPERSION.meaning}",
)
PAIR_CURVE = number(
    "y",
    "E Theta(x,x~) / E Theta(x,x) for the group ratio, otherwise the dispersion of Theta(x,x), by "
    "the curve",
)
BANDED_PAIR = flag("banded", "whether Figure 11 shows the row, with error bands")

# Figures 5 and 6: closed forms
FORM = text("form", "printed or corrected: the form of Theorem 3.1")
PHASE_OF_LIMIT = text("phase", "chaotic, or critical for the edge of chaos")
LIMIT_OF_DISPERSION = number(
    "y", "limit of the dispersion E[Theta(x,x)^2] / E[Theta(x,x)]^2 for L, M -> infinity"
)
LIMIT_OVER_PRINTED = number("over_printed", "the limit over that of the printed form")
ARCHITECTURE = text("architecture", "growing, constant or shrinking: how widths change with depth")
CURVE_OF_SHAPE = text(
    "curve", "printed_sums (Theorem 3.2 in the form of its proof) or exact at finite width"
)
DRAWN_LAYER = integer("x", "number of the layer, 0 for the input and L for the output")
DRAWN_WIDTH = integer("y", "units of the layer")

# Theorem 3.1 printed, corrected and exact
CURVE_OF_THEOREM = text(
    "curve",
    "printed_limit or corrected_limit (Theorem 3.1), lower_bound of the limit, or exact at finite "
    "width",
)
OVER_PRINTED_LIMIT = number("relative", "the dispersion over the printed limit at the same L / M")
EXACT_DISPERSION = number("exact", "exact dispersion at this width and depth")
PRINTED_LIMIT = number("printed", "printed limit of the dispersion at this L / M")
GAP_TO_LIMIT = number("gap", "M times the exact dispersion less the corrected limit")
LIMIT_OF_GAP = number("constant", "number that the gap tends to for M -> infinity")
CURVE_OF_SMALL = text(
    "curve",
    "printed_sums (Theorem 3.2 in the form of its proof), exact, or networks for an estimate from "
    "networks of which all weights are drawn",
)
SMALL_DISPERSION = number("y", "dispersion r = E[Theta(x,x)^2] / E[Theta(x,x)]^2")
SMALL_ERROR = number(
    "spread",
    "standard error of an estimate; 0 for a closed form",
    missing="the draws do not suffice",
)
SMALL_DRAWS = integer("draws", "number of networks drawn; 0 for a closed form")
OVER_PRINTED_SUMS = number("relative", "the dispersion over printed_sums of the same network")
OVER_PRINTED_SUMS_ERROR = number(
    "relative_spread",
    "standard error of an estimate over printed_sums; 0 for a closed form",
    missing="the draws do not suffice",
)

# Growing, constant and shrinking networks against each other
INPUT_KIND = text(
    "input", "own: n_0 as in Figure 6; common: n_0 of the constant network in all architectures"
)
INPUT_WIDTH = integer("input_width", "n_0, input dimension")
SHAPE_DISPERSION = number("y", "exact dispersion r = E[Theta(x,x)^2] / E[Theta(x,x)]^2")
SHAPE_EXCESS = number("excess", "r - 1 to first order in the reciprocal widths")
FIRST = text("first", "architecture in the numerator")
SECOND = text("second", "architecture in the denominator")
LOG10_RATIO = number("y", "log10(r_first / r_second) of the exact dispersions")
EXCESS_DIFFERENCE = number("excess", "r_first - r_second to first order in the reciprocal widths")
HIDDEN_LAYER = integer("layer", "number of the hidden layer, from 1")
LAYER_OVER_DEPTH = number("x", "number of the hidden layer over L")
COEFFICIENT = number(
    "y", "coefficient of the reciprocal width of this layer in r - 1 to first order"
)
LOG10_RATIO_TO_REVERSE = number(
    "y",
    "log10(r_growing / r_reversed) of the exact dispersions of a growing network and of the one "
    "with its hidden widths reversed",
)
REVERSE_EXCESS = number("excess", "r_growing - r_reversed to first order in the reciprocal widths")
THRESHOLD_TO_FIRST_ORDER = number(
    "first_order",
    "input dimension below which the growing network has the larger dispersion, to first order",
)
THRESHOLD = integer(
    "exact",
    "largest compared input dimension at which the growing network has the larger exact "
    "dispersion than its reverse; 0 if there is none",
)
SHAPE = integer("shape", "number of the drawn shape")
NARROWEST = integer("narrow", "units of the first hidden layer, the narrowest one")
WIDEST = integer("wide", "units of the last hidden layer, the widest one")
INPUT_OVER_WIDTH = number("x", "input dimension over the mean of the hidden widths")
SHAPES = integer("shapes", "number of drawn shapes of this phase")
HIGHER = integer(
    "higher",
    "number of those for which the growing network has the larger dispersion at some n_0",
)
LARGEST_LOG10_RATIO = number("largest", "largest log10(r_growing / r_reversed)")
LAST_INPUT_OVER_WIDTH = number(
    "last",
    "largest input dimension over the mean of the hidden widths at which a growing network has the "
    "larger dispersion; 0 if there is none",
)

# Figure 4: training with all images
SIGMA_W2_AT_START = shared.SIGMA_W2
STEP = integer("step", "step of the training with all images", "step")
DIVERGED = "the training diverged"
DIAGONAL = number(
    "diagonal", "Theta_d, mean of Theta(x,x) over the images of the kernel", missing=DIVERGED
)
SAME_CLASS = number(
    "same_class",
    "Theta_c, mean over pairs of different images of one class (equation 23)",
    missing=DIVERGED,
)
SAME_CLASS_WITH_DIAGONAL = number(
    "same_class_with_diagonal",
    "mean over all pairs of one class, those of an image with itself included, as in the authors' "
    "code",
    missing=DIVERGED,
)
OTHER_CLASS = number(
    "other_class",
    "Theta_n, mean over pairs of images of different classes (equation 23)",
    missing=DIVERGED,
)
SPREAD_DIAGONAL = number(
    "spread_diagonal", "standard deviation of Theta(x,x) over the images", missing=DIVERGED
)
SPREAD_SAME = number(
    "spread_same",
    "standard deviation over the pairs of different images of one class",
    missing=DIVERGED,
)
SPREAD_OTHER = number(
    "spread_other",
    "standard deviation over the pairs of images of different classes",
    missing=DIVERGED,
)
CLASS_GAP = number(
    "gap", "(same_class - other_class) / diagonal: 0 for a constant kernel", missing=DIVERGED
)
OVER_SMALLER_DIAGONAL = number(
    "over_smaller_diagonal",
    "value of a pair of images over the smaller one of its diagonal values, mean over pairs",
    missing=DIVERGED,
)
ALIGNMENT = number(
    "alignment",
    "cosine of the kernel and of the matrix that is 1 for pairs of one class, else 0",
    missing=DIVERGED,
)
TRAIN_LOSS = number(
    "train_loss",
    "half the squared error of the outputs, mean over the training images",
    missing=DIVERGED,
)
TEST_LOSS = number(
    "test_loss",
    "half the squared error of the outputs, mean over the test images",
    missing=DIVERGED,
)
QUANTITY_OF_CURVE = text(
    "quantity",
    "test_loss, train_loss, or a mean over pairs of images, over the mean diagonal: same_class, "
    "same_class_with_diagonal, other_class",
)
MIDDLE_OF_RUNS = number(
    "y", "median of the runs for a loss, else their mean", missing="all trainings diverged"
)
LEAST_OF_RUNS = number("low", "smallest value of the runs", missing="all trainings diverged")
MOST_OF_RUNS = number("high", "largest value of the runs", missing="all trainings diverged")
SPREAD_OF_ENTRIES = number(
    "spread",
    "standard deviation over the pairs of a mean, over the mean diagonal, mean of the runs",
    missing="a loss, or the mean with the diagonal; or all trainings diverged",
)
RUNS = integer("runs", "number of networks trained")
ROW = shared.IMAGE_ROW
COLUMN = shared.IMAGE_COLUMN
CLASS_ROW = shared.CLASS_ROW
CLASS_COLUMN = shared.CLASS_COLUMN
KERNEL = number("value", "kernel of both images, in six digits", missing=DIVERGED)
KERNEL_SHARE = number(
    "share",
    "kernel of both images over the mean of its diagonal at this step, in six digits",
    missing=DIVERGED,
)

# Lemmas A.1 to A.4: moments of norm ratios, a = sigma_w^2 / 2
HIDDEN_LAYERS = integer("layers", "number of hidden layers")
INPUT_AND_HIDDEN_WIDTH = integer("width", "n, units of each hidden layer and of the input")
MOMENT = text(
    "quantity",
    "moment of N_x (forward) and N_d (backward), squared norms of signals and errors over those of "
    "the layer before: E[N] / a, E[N^2] / a^2 (square), E[N_x N_d] / a^2 (product), means over "
    "layers; chain: of their products over all layers; part: the summands phi(U)^2 and phi'(U) V^2 "
    "of the proofs, and their variance",
)
WEIGHTS = text(
    "weights",
    "tied: errors pass the weights of the forward pass; untied: independent ones with the same "
    "gates, as in assumption A.3; difference: tied minus untied",
)
MEAN_MOMENT = number("value", "mean over the draws")
MEAN_MOMENT_ERROR = number("error", "standard error of the mean over the draws")
MOMENT_DRAWS = integer("draws", "number of values in the mean: of networks, or of units for parts")
PRINTED_MOMENT = number("printed", "the moment as printed", missing="the paper has no value")
EXACT_MOMENT = number("exact", "the moment in closed form")
EXACT_PRODUCT = number(
    "exact", "E[prod N_x N_d] over all hidden layers, over the product of the means, exactly"
)
PRINTED_PRODUCT = number("printed", "the same by Lemma A.4 without its remainder")

# Theorem 4.1: one gradient step
CHANGE = text(
    "change",
    "step: of weights and biases; step_of_weights: biases stay 0; derivative: to first order in "
    "the step size",
)
RELATIVE_CHANGE = number("value", "mean size of the change of Theta(x,x), over its exact mean")
RELATIVE_CHANGE_ERROR = number("error", "standard error of the mean size of the change")
SIGNED_CHANGE = number("with_sign", "mean change of Theta(x,x) with its sign, over its exact mean")
SIGNED_CHANGE_ERROR = number("with_sign_error", "standard error of the mean change with its sign")
EXACT_CHANGE = number(
    "exact_with_sign",
    "exact mean change to first order in the step size, over the exact mean of Theta(x,x)",
    missing="the change is not the derivative",
)

# Appendix C.3: estimators of the dispersion
ESTIMATOR = text(
    "estimator",
    "naive (mean square over squared mean), leave_one_out (prefactor 1/N), printed_leave_one_out "
    "(prefactor 1/(N-2)) or bias_corrected",
)
SAMPLE_SIZE = integer("size", "N, number of kernel values in a sample")
TRUE_DISPERSION = number("truth", "dispersion of the lognormal law of the kernel values")
MEAN_ESTIMATE = number("value", "mean of the estimates over the samples, over the true dispersion")
MEAN_ESTIMATE_ERROR = number("error", "standard error of this mean")
SAMPLES = integer("draws", "number of samples drawn")

# Figures
SOURCE = text("source", "ours, or paper for a number that the paper prints")
SAMPLE_SHOWN = text("sample", f"{SAMPLE.meaning}; none: not estimated")
NO_ESTIMATE = "a formula or a number of the paper"
NETWORKS = number("networks", "networks of which a value is the estimate", missing=NO_ESTIMATE)
OF_ALL = "a number of the paper that holds for all networks"
WIDTH_SHOWN = number("width", shared.WIDTH.meaning, missing=OF_ALL)
ALPHA_0_SHOWN = number("alpha_0", ALPHA_0.meaning, missing=OF_ALL)
SIGMA_W2_SHOWN = number("sigma_w2", SIGMA_W2.meaning, missing=OF_ALL)
COSINE_SHOWN = number(
    "cosine", COSINE.meaning, missing=f"a value of a diagonal element, or {OF_ALL}"
)
DEPTH_SHOWN = number("depth", shared.DEPTH.meaning, missing=OF_ALL)
DEPTH_OVER_WIDTH_SHOWN = number("depth_over_width", "L / M", missing=OF_ALL)
DEPTH_OVER_WIDTH = number("depth_over_width", "L / M")
SERIES_OF_DISPERSION = text(
    "series",
    "estimate, exact (diagonal), printed_limit (Theorem 3.1), printed_sums (Theorem 3.2 in the "
    "form of its proof), ordered_limit (Theorem 3.1, part 3) or high_variance (section 3.1)",
)
DISPERSION_SHOWN = number("dispersion", "second moment of a kernel element over its squared mean")
DISPERSION_ERROR_SHOWN = number(
    "standard_error",
    "standard error of an estimate",
    missing=f"{NO_ESTIMATE}, a point without a bar, or the draws do not suffice",
)
MARKED = integer("marked", "1 for a mark with a bar, hollow if the error is unknown, else 0")
SERIES_OF_RATIO = text(
    "series",
    "estimate, equation_18, infinite_width, or lower_bound and upper_bound (Theorem 3.3)",
)
MEAN_RATIO = number("ratio", "mean of an off-diagonal element over the mean of a diagonal one")
MEAN_RATIO_ERROR = number("standard_error", "standard error of an estimate", missing=NO_ESTIMATE)

# Figure 4
PANEL_OF_TRAINING = text("panel", "curve or map")
SOURCE_OF_TRAINING = text("source", "ours, or paper for a value of the paper")
DATA = text("data", "the images of the training")
QUANTITY_SHOWN = text("quantity", f"{QUANTITY_OF_CURVE.meaning}; kernel for maps")
VALUE_SHOWN = number(
    "value",
    "median of the runs for a loss, else their mean; or value of the paper",
    missing="an entry of a map, or all trainings diverged",
)
NO_LOSS = "no loss of our runs, or all trainings diverged"
LOWEST_LOSS = number("lowest", "smallest loss of the runs", missing=NO_LOSS)
HIGHEST_LOSS = number("highest", "largest loss of the runs", missing=NO_LOSS)
DEVIATION_OF_ENTRIES = number(
    "standard_deviation",
    "standard deviation of single entries over the mean diagonal, mean of the runs",
    missing="there is none, or all trainings diverged",
)
READING_ERROR = number(
    "reading_error",
    "error of reading the paper's value off its picture",
    missing="no value of the paper",
)
RUNS_SHOWN = number("runs", "networks behind a value", missing="a map or a value of the paper")
NOT_A_MAP = "a curve"
ROW_SHOWN = number("row", "number of an image in a map, sorted by class", missing=NOT_A_MAP)
COLUMN_SHOWN = number("column", "number of the other image, not below the row", missing=NOT_A_MAP)
CLASS_ROW_SHOWN = number("class_row", "class of the image of the row", missing=NOT_A_MAP)
CLASS_COLUMN_SHOWN = number("class_column", "class of the image of the column", missing=NOT_A_MAP)
SHARE_SHOWN = number(
    "share",
    "kernel of both images over the mean diagonal",
    missing="a curve, or the training diverged",
)

# Figures 5 and 6
LIMIT_OF_DEPTH_OVER_WIDTH = number("depth_over_width", LIMIT_OF_LAMBDA.meaning)
LIMIT_SHOWN = number("dispersion", "limit of the second moment of Theta(x,x) over its squared mean")
PANEL_OF_SHAPE = text("panel", "dispersion (upper row) or drawing (lower row)")
CURVE_OF_SHAPE_SHOWN = text("curve", f"{CURVE_OF_SHAPE.meaning}; none in a drawing")
IN_DRAWING = "a drawing"
SIGMA_W2_OF_SHAPE = number("sigma_w2", SIGMA_W2.meaning, missing=IN_DRAWING)
DEPTH_OVER_MEAN_WIDTH = number(
    "depth_over_width", "L over the mean of both widths", missing=IN_DRAWING
)
DISPERSION_OF_SHAPE = number(
    "dispersion", "second moment of Theta(x,x) over its squared mean", missing=IN_DRAWING
)
LAYER_SHOWN = number(
    "layer", "number of the layer, 0 for the input and L for the output", missing="a curve"
)
LAYER_WIDTH_SHOWN = number("width", "units of this layer", missing="a curve")

# Theorem 3.1, figure of our own
PANEL_OF_THEOREM = text("panel", "curves (panels of a phase) or small (networks drawn in full)")
CURVE_SHOWN = text(
    "curve",
    "printed_limit or corrected_limit (Theorem 3.1), lower_bound of the limit, printed_sums "
    "(Theorem 3.2 in the form of its proof), exact, or networks for an estimate",
)
WIDTH_OF_CURVE = number("width", shared.WIDTH.meaning, missing="a limit")
DEPTH_OF_SMALL = number("depth", shared.DEPTH.meaning, missing="no small network")
NETWORKS_DRAWN = number("networks", "networks drawn for an estimate", missing="no estimate")
DISPERSION_OF_CURVE = number("dispersion", "second moment of Theta(x,x) over its squared mean")
NO_ERROR = "no estimate, or the draws do not suffice"
ERROR_OF_ESTIMATE = number(
    "standard_error", "standard error of an estimated dispersion", missing=NO_ERROR
)
OVER_PRINTED = number(
    "over_printed",
    "the dispersion over the printed limit; in the panel small over Theorem 3.2 in the form of its "
    "proof",
)
OVER_PRINTED_ERROR = number(
    "over_printed_standard_error", "standard error of over_printed", missing=NO_ERROR
)

# Architectures against each other, figure of our own
PANEL_OF_SHAPES = text(
    "panel",
    "inputs (ratio at an input dimension), threshold (first-order input dimension of equal "
    "dispersions), random (ratio for random widths), counts (of random widths), map (a pair of "
    "architectures) or layers (coefficients of layers)",
)
INPUT_SHOWN = text("input", f"of map and layers, {INPUT_KIND.meaning}; none for others")
PHASE_SHOWN = text("phase", "ordered, critical or chaotic; none except for random and counts")
SIGMA_W2_OF_PANEL = number("sigma_w2", SIGMA_W2.meaning, missing="counts")
DEPTH_OF_PANEL = number("depth", shared.DEPTH.meaning, missing="counts")
INPUT_WIDTH_SHOWN = number("input_width", INPUT_WIDTH.meaning, missing="map, layers or counts")
INPUT_OVER_WIDTH_SHOWN = number(
    "input_over_width", INPUT_OVER_WIDTH.meaning, missing="not of the panel random"
)
FIRST_SHOWN = text("first", f"{FIRST.meaning}; none for threshold, counts and layers")
SECOND_SHOWN = text("second", f"{SECOND.meaning}; none as for the first")
LOG10_RATIO_SHOWN = number(
    "log10_ratio",
    "logarithm to the base 10 of the exact dispersion of the first over that of the second",
    missing="threshold, counts or layers",
)
NOT_OF_COUNTS = "not of the panel counts"
SHAPES_SHOWN = number("shapes", "number of random widths of this phase", missing=NOT_OF_COUNTS)
HIGHER_SHOWN = number(
    "higher",
    "those for which the growing network has the larger dispersion at some input dimension",
    missing=NOT_OF_COUNTS,
)
ARCHITECTURE_SHOWN = text(
    "architecture", "growing, constant or shrinking widths; none except for layers"
)
NOT_OF_LAYERS = "not of the panel layers"
LAYER_OVER_DEPTH_SHOWN = number("layer_over_depth", LAYER_OVER_DEPTH.meaning, missing=NOT_OF_LAYERS)
COEFFICIENT_SHOWN = number(
    "coefficient",
    "coefficient of the layer's reciprocal width in the dispersion to first order",
    missing=NOT_OF_LAYERS,
)
