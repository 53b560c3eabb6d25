"""Small settings of trainings of ``collapse``, for several tests."""

TRAINING = {
    "pair": "vgg_mnist",
    "network": {"kind": "vgg", "convolutions": [4, "M", 8, "M"], "dense": [8, 6]},
    "images": {"per_class": 24, "pool": 1, "size": None, "test": None},
    "inits": ["lecun", "he"],
    "rates": {"first": -4.0, "last": 0.25, "points": 30, "indices": [], "values": [0.02, 0.2]},
    "loss": "squared",
    "epochs": 3,
    "batch_per_class": 6,
    "momentum": 0.9,
    "decay": 0.01,
    "decay_rate_at": [0.3, 0.6, 0.9],
    "measure_every": 2,
    "kernel_per_class": 2,
    "kernel_gib": 0.5,
    "normalise_columns": False,
    "stack": None,
    "keep": ["lecun"],
}
