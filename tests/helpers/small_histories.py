"""Histories and weights of small trainings, as experiments of npf and dgn read them."""

import numpy as np


def history_row(**over):
    """An epoch of a run. ``test_accuracy`` is that of both halves of the test images."""
    accuracy = over.get("test_accuracy", 0.5)
    return {
        "row": "fc_sgd",
        "regime": "relu",
        "stage": None,
        "beta": None,
        "eps": None,
        "variant": "original",
        "seed": 0,
        "step_size": 0.1,
        "epoch": 1,
        "train_loss": 0.4,
        "test_loss": 0.6,
        "train_accuracy": 1.0,
        "test_accuracy": accuracy,
        "test_accuracy_first": accuracy,
        "test_accuracy_second": accuracy,
        "diverged": 0,
    } | over


def kept_weights(parts, replicas=2, epochs=(0, 3), width=6, bias=False, outputs=1, seed=1):
    """Random weights of two hidden layers as a training keeps them."""
    rng = np.random.default_rng(seed)
    sizes = [64, width, width, outputs]
    arrays = {}
    for epoch in epochs:
        for part in parts:
            for layer in range(3 if part == "value" else 2):
                shape = (replicas, sizes[layer], sizes[layer + 1])
                name = f"epoch{epoch}/{part}/{layer}"
                arrays[f"{name}.weight"] = rng.normal(0, 0.4, shape).astype(np.float32)
                if bias:
                    arrays[f"{name}.bias"] = rng.normal(0, 0.1, shape[::2]).astype(np.float32)
    return arrays
