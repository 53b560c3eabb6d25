"""Networks and inputs that are drawn anew for each version of the project.

The random numbers follow from the version in pyproject.toml. Hence the code was not written or
tuned with these networks in view, each version has other ones, and a failure can be repeated.
``FINITEWIDTH_HELD_OUT=0.7.0`` repeats the draws of version 0.7.0.
"""

import os
import tomllib
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np
import pytest
import torch
from tests.helpers.project import ROOT

from finitewidth.kernels.ntk_init.activations import Activation, activation_of
from finitewidth.kernels.ntk_init.initialisation import PARAMETRISATIONS, Initialisation
from finitewidth.kernels.ntk_init.phases import border, chi_1
from finitewidth.records.provenance import seed_for

VARIABLE = "FINITEWIDTH_HELD_OUT"
PHASES = ("ordered", "critical", "chaotic")
PROJECT = ROOT / "pyproject.toml"


def version():
    """Return the version whose networks are drawn.

    The metadata of an installed package can be older than the sources, so pyproject.toml counts.
    """
    chosen = os.environ.get(VARIABLE, "").strip()
    if chosen:
        return chosen
    if PROJECT.is_file():
        return tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"]
    return metadata.version("finitewidth")


def seed(*purpose):
    return seed_for("held out", version(), *purpose)


def stream(*purpose):
    """Return the source of random numbers of one test."""
    return np.random.default_rng(seed(*purpose))


def numbers(short, long):
    """Return 0..short-1, and with the option --full also short..long-1, to parametrise a test."""
    return [
        number if number < short else pytest.param(number, marks=pytest.mark.full)
        for number in range(long)
    ]


@contextmanager
def shown(**drawn):
    """Add the version and what was drawn to the message of every failure inside the block."""
    try:
        yield
    except Exception as error:
        lines = [f"  {name} = {_words(value)}" for name, value in drawn.items()]
        error.add_note("\n".join([f"drawn for {VARIABLE}={version()}:", *lines]))
        raise


def _words(value):
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | torch.Tensor) else value


@dataclass(frozen=True)
class Phi:
    """An activation.

    Attributes:
        name: shown in messages.
        accepted: what the code under test is given: a name, a callable or an `Activation`.
        plain: a torch function, differentiated by autograd.
        smooth: whether it is analytic, so that Gaussian quadrature has full precision.
    """

    name: str
    accepted: Any
    plain: Callable[[torch.Tensor], torch.Tensor]
    smooth: bool = True

    def __repr__(self):
        return self.name


RELU = Phi("relu", "relu", torch.relu, smooth=False)
TANH = Phi("tanh", "tanh", torch.tanh)
ERF = Phi("erf", "erf", torch.erf)


def _callable(name, function, smooth=True):
    return Phi(name, function, function, smooth)


def _mixture(rng):
    """Return a tanh(c h) + b h with random a, b, c, as an `Activation` with its slope."""
    a = float(rng.uniform(0.5, 1.5))
    b = float(rng.uniform(-0.5, 0.5))
    c = float(rng.uniform(0.5, 1.5))

    def value(h):
        return a * torch.tanh(c * h) + b * h

    def slope(h):
        return a * c / torch.cosh(c * h) ** 2 + b

    name = f"{a!r} tanh({c!r} h) + {b!r} h"
    return Phi(name, Activation("mixture", value, slope), value)


def other_activation(rng, smooth=False):
    """Draw an activation that has no name in the project.

    Args:
        rng: source of random numbers.
        smooth: whether to draw analytic ones only.
    """
    shift = float(rng.uniform(-1, 1))
    leak = float(rng.uniform(0.05, 0.5))
    functional = torch.nn.functional
    choices = [
        _mixture(rng),
        _callable("softplus", functional.softplus),
        _callable("gelu", functional.gelu),
        _callable("sin", torch.sin),
        _callable(f"erf(h + {shift!r})", lambda h: torch.erf(h + shift)),
    ]
    if not smooth:
        choices += [
            _callable("torch.relu", torch.relu, smooth=False),
            _callable("elu", functional.elu, smooth=False),
            _callable(f"leaky_relu({leak!r})", lambda h: functional.leaky_relu(h, leak), False),
        ]
    return choices[rng.integers(len(choices))]


def edge(phi, sigma_b2):
    """Return the critical sigma_w2, or an approximation if the activation has no name."""
    if isinstance(phi.accepted, str):
        return border(phi.accepted, sigma_b2)
    return 1 / chi_1(activation_of(phi.accepted), 1.0, 1.0)


def weight_variance(rng, phase, phi, sigma_b2):
    """Draw sigma_w2 in a phase: 40 to 95 % of the critical one, equal to it, or 105 to 180 %."""
    critical = edge(phi, sigma_b2)
    factor = {"ordered": rng.uniform(0.4, 0.95), "critical": 1.0, "chaotic": rng.uniform(1.05, 1.8)}
    return float(critical * factor[phase])


def bias_variance(rng, number):
    """Draw sigma_b2. Among six successive networks, each phase occurs with biases and without."""
    return float(rng.uniform(0.05, 1)) if number // 3 % 2 else 0.0


def law(rng, number, phi, *, biased=True, equal=False, outputs=1, parametrisation=None, widest=12):
    """Draw the law of a network of depth 2 to 6.

    Args:
        rng: source of random numbers.
        number: chooses the phase, and whether there are biases.
        phi: the activation.
        biased: False for a network without biases.
        equal: whether all hidden layers have the same width.
        outputs: output dimension.
        parametrisation: None to draw it, too.
        widest: largest width.
    """
    depth = int(rng.integers(2, 7))
    hidden = rng.integers(1, widest + 1, 1 if equal else depth - 1)
    hidden = np.resize(hidden, depth - 1)
    sigma_b2 = bias_variance(rng, number) if biased else 0.0
    return Initialisation(
        widths=(int(rng.integers(1, widest + 1)), *hidden.tolist()),
        sigma_w2=weight_variance(rng, PHASES[number % 3], phi, sigma_b2),
        sigma_b2=sigma_b2,
        outputs=outputs,
        parametrisation=parametrisation or str(rng.choice(PARAMETRISATIONS)),
    )


def one_input(rng, width):
    """Draw an input (1, width) of random direction whose squared norm lies between .3 and 3."""
    x = rng.standard_normal((1, width))
    return x * (np.exp(rng.uniform(np.log(0.3), np.log(3.0))) ** 0.5 / np.linalg.norm(x))


def inputs(rng, count, width):
    """Draw inputs (count, width); the second has a uniform cosine with the first.

    A third one is a multiple of the first, further ones are independent. If ``width`` is 1, all
    are collinear.
    """
    found = [one_input(rng, width)[0] for _ in range(count)]
    if count > 1 and width > 1:
        unit = found[0] / np.linalg.norm(found[0])
        across = found[1] - (found[1] @ unit) * unit
        cosine = rng.uniform(-0.95, 0.95)
        direction = cosine * unit + (1 - cosine**2) ** 0.5 * across / np.linalg.norm(across)
        found[1] = np.linalg.norm(found[1]) * direction
    if count > 2:
        found[2] = rng.uniform(-2, 2) * found[0]
    return np.array(found)
