"""Settings of experiments that train, at sizes that take less than a second."""

BEYOND_TRAINING = {
    "train": 60,
    "test": 30,
    "sigma_w2": [1.0, 2.0],
    "hidden": 3,
    "width": 16,
    "runs": 2,
    "rate": 0.01,
    "times": [0, 2, 6, 12],
    "per_class": 2,
    "maps": [0, 12],
}
TRUST_DESCENT = {  # in place of those of config/papers/trust.yaml
    "samples": 20,
    "runs": 2,
    "widest": {"runs": 1},
    "widths": [6, 12],
    "width": 6,
    "sigma_b2": [1, 0],
    "sigma_w2": [1, 2, 3],
    "depths": [2, 5],
    "steps": 60,
    "rate": 0.001,
    "times": [10, 30],
    "mode": "graded",
}
