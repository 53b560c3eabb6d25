"""Eigenvalues and eigenvectors of a block kernel in exact arithmetic, job `collapse_block_kernel`.

It is about ``collapse`` Table 1 and equations (11) and (12). Everything is computed with sympy from
Definition 3.1: with symbols in place of gamma_d, gamma_c and gamma_n, and for one example with
rational numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import sympy

from finitewidth.papers.collapse.experiments.block_flow import BlockKernel

NAMES = ("gamma_d", "gamma_c", "gamma_n")
COMPONENTS = ("single", "class", "global")


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Check every entry of Table 1, and the inner products of Section 4.1.

    The settings are those of `finitewidth.papers.collapse.settings.BlockKernel`.

    Returns:
        ``rows``: component (single, class, global), classes, samples, gamma_d, gamma_c, gamma_n,
        value (eigenvalue of the example), multiplicity (that the paper states, for the example),
        vectors (number of eigenvectors printed), rank (of these), residual (largest absolute entry
        of K v - lambda v for the example), symbolic (number of entries of K v - lambda v that are
        not 0 with symbols), small_classes, small_samples, small_stated (multiplicity stated for
        these), power (of the eigenvalue in the characteristic polynomial).
        ``products``: component, equation, entries (number of inner products), differing (how many
        of them differ from the printed form, for a residual of symbols).
    """
    return {
        "rows": pd.DataFrame(_rows(settings)),
        "products": pd.DataFrame(_products(settings["classes"], settings["samples"])),
    }


def kernel(classes: int, samples: int, values: Sequence[Any]) -> sympy.Matrix:
    """The block kernel of all N samples, sorted by class (Definition 3.1).

    ``values`` are gamma_d, gamma_c and gamma_n, numbers or symbols.
    """
    diagonal, same, other = values
    blocks = sympy.kronecker_product(sympy.eye(classes), sympy.ones(samples))
    eye, ones = sympy.eye(classes * samples), sympy.ones(classes * samples)
    return other * ones + (same - other) * blocks + (diagonal - same) * eye


def stated_eigenvalues(classes: int, samples: int, values: Sequence[Any]) -> list[Any]:
    """lambda_single, lambda_class and lambda_global as Table 1 states them."""
    stated = BlockKernel(classes, samples, *values)
    return [stated.mu_single, stated.mu_class, stated.mu_global]


def stated_multiplicities(classes: int, samples: int) -> list[int]:
    """N - C, C - 1 and 1."""
    return [classes * samples - classes, classes - 1, 1]


def stated_vectors(classes: int, samples: int) -> list[list[sympy.Matrix]]:
    """The eigenvectors of Table 1: v_i^c for all i and c, v_c for all c, and v_0."""
    count = classes * samples

    def single(index: int) -> sympy.Matrix:
        same = [place // samples == index // samples for place in range(count)]
        entries = [samples - 1 if place == index else -same[place] for place in range(count)]
        return sympy.Matrix(entries) / (samples - 1)

    def of_class(chosen: int) -> sympy.Matrix:
        inside = [place // samples == chosen for place in range(count)]
        return sympy.Matrix([classes - 1 if own else -1 for own in inside]) / (classes - 1)

    return [
        [single(index) for index in range(count)],
        [of_class(chosen) for chosen in range(classes)],
        [sympy.ones(count, 1)],
    ]


def _rows(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    sizes = settings["classes"], settings["samples"]
    small = settings["symbols"]["classes"], settings["symbols"]["samples"]
    numbers = [sympy.nsimplify(value, rational=True) for value in settings["kernel"]]
    symbols = sympy.symbols(NAMES)
    exact, general = kernel(*sizes, numbers), kernel(*sizes, symbols)
    values = stated_eigenvalues(*sizes, numbers)
    formulas = stated_eigenvalues(*sizes, symbols)
    vectors = stated_vectors(*sizes)
    powers = powers_of_roots(*small)
    return [
        {
            "component": name,
            "classes": sizes[0],
            "samples": sizes[1],
            **dict(zip(NAMES, map(float, numbers), strict=True)),
            "value": float(values[place]),
            "multiplicity": stated_multiplicities(*sizes)[place],
            "vectors": len(vectors[place]),
            "rank": sympy.Matrix.hstack(*vectors[place]).rank(),
            "residual": float(max(map(abs, _left(exact, values[place], vectors[place])))),
            "symbolic": sum(
                entry.expand() != 0 for entry in _left(general, formulas[place], vectors[place])
            ),
            "small_classes": small[0],
            "small_samples": small[1],
            "small_stated": stated_multiplicities(*small)[place],
            "power": powers[place],
        }
        for place, name in enumerate(COMPONENTS)
    ]


def _left(matrix: Any, value: Any, vectors: Sequence[Any]) -> list[Any]:
    """The entries of K v - lambda v for all vectors, exactly."""
    return [entry for v in vectors for entry in matrix * v - value * v]


def powers_of_roots(classes: int, samples: int) -> list[int]:
    """How often x - lambda_single, x - lambda_class and x - lambda_global divide det(x I - K)."""
    x, symbols = sympy.Symbol("x"), sympy.symbols(NAMES)
    matrix = kernel(classes, samples, symbols)
    _, factors = sympy.factor_list(matrix.charpoly(x).as_expr(), x, *symbols)
    return [
        sum(power for factor, power in factors if sympy.expand(factor - x + eigenvalue) == 0)
        for eigenvalue in stated_eigenvalues(classes, samples, symbols)
    ]


def _products(classes: int, samples: int) -> list[dict[str, Any]]:
    """The inner products of a residual r of symbols with all eigenvectors, beside (11) and (12)."""
    count = classes * samples
    r = sympy.Matrix(sympy.symbols(f"r0:{count}"))
    mean = sum(r) / count
    of_class = [sum(r[c * samples : (c + 1) * samples]) / samples for c in range(classes)]
    printed = [
        [(r[i] - of_class[i // samples]) * samples / (samples - 1) for i in range(count)],
        [(of_class[c] - mean) * count / (classes - 1) for c in range(classes)],
        [count * mean],
    ]
    equations = ("(12), right", "(12), left", "(11)")
    return [
        {
            "component": name,
            "equation": equation,
            "entries": len(forms),
            "differing": sum(
                sympy.expand((r.T * v)[0] - form) != 0
                for v, form in zip(vectors, forms, strict=True)
            ),
        }
        for name, equation, forms, vectors in zip(
            COMPONENTS, equations, printed, stated_vectors(classes, samples), strict=True
        )
    ]
