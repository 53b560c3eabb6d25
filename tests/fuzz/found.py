"""Configurations that failed when they were drawn, as for ``--config``; each runs or is refused."""

RUN = [
    "beyond={diagonal: {paper_draws: 3}}",  # bars below zero on a logarithmic axis
    "trust={descent_tanh: {rate: 1000.0}}",  # every run diverges
    "beyond={theorem31: {max_lambda: 0.001}}",  # the first depth lies beyond all limits
    "thesis={classical: {samples: 3, largest_degree: 2, frequency: 1.0}}",  # a risk of 0
    "thesis={classical: {samples: 2, largest_degree: 1}}",
]
REFUSED = [
    # nothing is left to draw of kappa_2
    (
        "trust={mean_field: {depth: 1, pairs: {relu: [[1000.0, 1000.0]]}, covariances: [0.0]}}",
        "trust.mean_field.depth",
    ),
    ("dgn={mnist: {dataset: fashion_mnist}}", "dgn.mnist.dataset"),
    ("beyond={lemmas: {steps: {ratio: 0.000000000001}}}", "beyond.lemmas.steps.ratio"),
    ("beyond={training: {train: 2, test: 2}}", "raise train"),
    ("dgn={planar: {width: 3, samples: 3}}", "width"),  # all paths of a network are closed
    ("npf={memorisation: {task: {mu: 1.0}}}", "npf.memorisation.task.mu"),
    ("beyond={shapes: {layers: {sigma_w2: [2.2]}}}", "beyond.shapes.layers.sigma_w2"),
    ("thesis={risk: {ratios: [1.0]}}", "thesis.risk.ratios"),
    ("collapse={flow: {residuals: {step: 0.000000000001}}}", "collapse.flow.residuals.step"),
    ("npf={theory: {limits: {width: 1}}}", "npf.theory.limits"),
    ("beyond={theorem31: {doubled: {widths: [40, 80, 1]}}}", "beyond.theorem31.doubled.widths"),
    ("npf={theory: {widths: {widths: [16, 32, 3]}}}", "npf.theory.widths"),
    ("beyond={shapes: {maps: {max_lambda: 0.001}}}", "beyond.shapes.maps.max_lambda"),
    ("npf={memorisation: {widths: {narrow: 12}}}", "npf.memorisation.widths.narrow"),
    ("trust={solutions: {input_width: 1}}", "trust.solutions.input_width"),
]
