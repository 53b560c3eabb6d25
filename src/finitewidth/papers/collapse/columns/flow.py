"""Columns of flows under a block kernel, and of its eigenvalues (Table 1).

There are C classes of m samples. H1 are the class means of the features, H2 their deviations from
these, <h> is the global mean, and W and b are weights and biases of the last layer. E is the
invariant of (26).
"""

from finitewidth.papers.collapse.columns.networks import NC1_RATIO, NC2, NC3
from finitewidth.records.tables import integer, number, text

# Flows in time
START = text(
    "start",
    "zero_invariant: E = 0 and b = 1/C; free_biases: E = 0 and b = 0; random_weights: random W; "
    "positive_invariant: positive semidefinite E",
)
CASE = text("case", "the start in words")
RUN = integer("run", "number of the random start, from 0")
TIME = number("time", "time of the flow")
NC1 = number("nc1", NC1_RATIO.meaning)
NC2_OF_FLOW = number("nc2", NC2.meaning)
NC3_OF_FLOW = number("nc3", NC3.meaning)
NC4 = number("nc4", "share of random points whose largest output is that of the nearest class mean")
H2 = number("h2", "norm of H2")
MEAN = number("mean", "norm of <h> over the root mean square norm of centred class means")
BIAS_GAP = number("bias_gap", "largest |b_c - 1/C| over classes c")
ALIGNMENT = number("alignment", "cosine of W^T W and the part of E that has features")
DRIFT = number("drift", "norm of the change of E, over the norms of both parts of E at the start")
BOUND = number(
    "bound", "bound of h2 by a positive semidefinite E", missing="E is not positive semidefinite"
)

# Flows whose features have a global mean
CASE_OF_WEIGHTS = text("case", "the weights at the start in words: E = 0, or random with a scale")
LARGEST_RESIDUAL = number("residual", "largest size of an entry of R1 = W H1 + b 1^T - I")
GAP = number("gap", BIAS_GAP.meaning)
ERROR = number("error", "largest size of an entry of b - 1/C + W <h>, which is 0 where R1 is")

# Flows with equal biases that are held fixed, and formulas for their ends
CASE_OF_BIASES = text("case", "kernel between classes and biases in words")
KAPPA_N = number("kappa_n", "kernel of two samples of different classes")
BETA = number("beta", "value of all biases")
QUANTITY = text(
    "quantity",
    "gamma: of W W^T as a multiple of I - gamma 1 1^T, by the means on and off its diagonal; "
    "theta: the same of H1^T H1; nc2, nc3, h2, drift: as of other flows; "
    "nc3_earlier: nc3 at a quarter of the time",
)
VALUE = number("value", "value of the quantity at the end of the flow")
ANGLE = text("quantity", "gamma or theta")
FORM = text("form", "printed: as the paper prints it; corrected: with the errata")
ANGLE_BY_FORMULA = number("value", "gamma or theta by the formula")

# Residuals of one output under its own block kernel
BLOCKS = text("kernel", "gamma_d, gamma_c and gamma_n of the kernel")
RESIDUAL_PART = text(
    "component",
    "global: mean of all samples; class: class means minus it; single: samples minus class means",
)
REACHED = number(
    "reached",
    "time at which the norm of the component has fallen to the given fraction of its start",
    missing="it has not within twice the time of the slowest component",
)
EIGENVALUE = number("eigenvalue", "eigenvalue of the component (Table 1)")
PREDICTED = number("predicted", "the time by the eigenvalue")

# A second integrator
METHOD = text("method", "DOP853, or RK4: the classical Runge-Kutta method of order 4")
STEP = number("step", "step of the integration", missing="DOP853 chooses its steps")
DISTANCE = number(
    "distance", "distance of the state from that of DOP853, over the size of the latter"
)

# Table 1, of an example in rational numbers and of a smaller kernel of symbols
COMPONENT = text("component", "single (samples within a class), class (classes), or global")
CLASSES = integer("classes", "C, number of classes of the example")
SAMPLES = integer("samples", "m, number of samples in each class of the example")
GAMMA_D = number("gamma_d", "γ_d of the example, the kernel of a sample with itself")
GAMMA_C = number("gamma_c", "γ_c of the example, the kernel of two samples of one class")
GAMMA_N = number("gamma_n", "γ_n of the example, the kernel of samples of two classes")
EIGENVALUE_OF_EXAMPLE = number("value", "λ, eigenvalue of the example by the printed formula")
MULTIPLICITY = integer("multiplicity", "multiplicity that the paper states for it")
VECTORS = integer("vectors", "number of eigenvectors that the paper prints, for the example")
RANK = integer("rank", "how many of these are linearly independent")
RESIDUAL = number("residual", "max |K v - λ v| over entries and printed eigenvectors, exact")
SYMBOLIC = integer("symbolic", "number of entries of K v - λ v that are not 0 with symbols")
SMALL_CLASSES = integer("small_classes", "number of classes of the kernel of symbols")
SMALL_SAMPLES = integer("small_samples", "number of samples per class of the kernel of symbols")
SMALL_STATED = integer("small_stated", "multiplicity that the paper states for that kernel")
POWER = integer(
    "power", "power of the eigenvalue's factor in the characteristic polynomial of that kernel"
)
EQUATION = text("equation", "equation of the paper for inner products of a residual with vectors")
ENTRIES = integer("entries", "number of these inner products")
DIFFERING = integer("differing", "how many of them differ from the printed form")
EIGENVALUE_TEXT = text("eigenvalue_text", "eigenvalue as the paper prints it, as plain text")
EIGENVECTOR_TEXT = text("eigenvector_text", "eigenvectors as the paper prints them, as plain text")
MULTIPLICITY_TEXT = text("multiplicity_text", "multiplicity as the paper prints it, as plain text")
EIGENVALUE_LATEX = text("eigenvalue_latex", "eigenvalue as the paper prints it, in LaTeX")
EIGENVECTOR_LATEX = text("eigenvector_latex", "eigenvectors as the paper prints them, in LaTeX")
MULTIPLICITY_LATEX = text("multiplicity_latex", "multiplicity as the paper prints it, in LaTeX")

# Data file of collapse_extra_flow
QUANTITY_SHOWN = text("quantity", "nc1, nc2, nc3, h2, gamma or theta; a panel each")
SERIES = text(
    "series",
    "flow: in time; leading: the leading term at late times; bound: of the flow from the same "
    "start, where E is positive semidefinite; end: of a flow with biases held fixed; "
    "corrected, printed: the formula",
)
START_SHOWN = text(
    "start", "zero_invariant, free_biases, positive_invariant or random_weights; none for others"
)
WEIGHT_SCALE = number(
    "weight_scale",
    "standard deviation of the random weights at the start",
    missing="the row is of no flow from random weights",
)
RUN_SHOWN = number(
    "run", "number of the random start", missing="the row is a leading term or by a formula"
)
FIXED_BIASES = "the biases are held fixed"
TIME_SHOWN = number("time", TIME.meaning, missing=FIXED_BIASES)
KAPPA_N_SHOWN = number(
    "kappa_n",
    "value of the kernel between classes, where biases are held fixed",
    missing="the biases are not held fixed",
)
BETA_SHOWN = number(
    "beta",
    "the value of all biases, where they are held fixed",
    missing="the biases are not held fixed",
)
VALUE_SHOWN = number("value", "the value of the quantity")
