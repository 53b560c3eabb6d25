"""Eigenvalues and eigenvectors of a block kernel in exact arithmetic, job `collapse_block_kernel`.

It is about ``collapse`` Table 1 and equations (11) and (12). Everything is computed with sympy from
Definition 3.1: with symbols in place of gamma_d, gamma_c and gamma_n, and for one example with
rational numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import sympy

from finitewidth.papers.collapse.columns import flow as columns
from finitewidth.papers.collapse.experiments import block_flow
from finitewidth.papers.collapse.settings.flow import BlockKernel
from finitewidth.records.tables import Table

NAMES = ("gamma_d", "gamma_c", "gamma_n")
COMPONENTS = ("single", "class", "global")
TABLES = {
    "rows": Table(
        columns.COMPONENT,
        columns.CLASSES,
        columns.SAMPLES,
        columns.GAMMA_D,
        columns.GAMMA_C,
        columns.GAMMA_N,
        columns.EIGENVALUE_OF_EXAMPLE,
        columns.MULTIPLICITY,
        columns.VECTORS,
        columns.RANK,
        columns.RESIDUAL,
        columns.SYMBOLIC,
        columns.SMALL_CLASSES,
        columns.SMALL_SAMPLES,
        columns.SMALL_STATED,
        columns.POWER,
    ),
    "products": Table(columns.COMPONENT, columns.EQUATION, columns.ENTRIES, columns.DIFFERING),
}


def measure(inputs: Mapping[str, Any], settings: BlockKernel) -> dict[str, pd.DataFrame]:
    """Check every entry of Table 1, and the inner products of Section 4.1.

    Returns:
        ``rows``: a row for each component of Table 1.

        ``products``: inner products of eigenvectors with a residual of symbols.
    """
    return {
        "rows": pd.DataFrame(_rows(settings)),
        "products": pd.DataFrame(_products(settings.classes, settings.samples)),
    }


def kernel(classes: int, samples: int, values: Sequence[Any]) -> sympy.Matrix:
    """The block kernel of all N samples, sorted by class (Definition 3.1).

    ``values`` are gamma_d, gamma_c and gamma_n, numbers or symbols.
    """
    diagonal, same, other = values
    blocks = sympy.kronecker_product(sympy.eye(classes), sympy.ones(samples))
    eye = sympy.eye(classes * samples)
    ones = sympy.ones(classes * samples)
    return other * ones + (same - other) * blocks + (diagonal - same) * eye


def stated_eigenvalues(classes: int, samples: int, values: Sequence[Any]) -> list[Any]:
    """lambda_single, lambda_class and lambda_global as Table 1 states them."""
    stated = block_flow.BlockKernel(classes, samples, *values)
    return [stated.mu_single, stated.mu_class, stated.mu_global]


def stated_multiplicities(classes: int, samples: int) -> list[int]:
    """Multiplicities N - C, C - 1 and 1 of these eigenvalues, as Table 1 states them."""
    return [classes * samples - classes, classes - 1, 1]


def stated_vectors(classes: int, samples: int) -> list[list[sympy.Matrix]]:
    """The eigenvectors of Table 1: v_i^c for all i and c, v_c for all c, and v_0."""
    count = classes * samples

    def sample_vector(i: int) -> sympy.Matrix:
        entries = []
        for j in range(count):
            if j == i:
                entries.append(samples - 1)
            else:
                entries.append(-1 if j // samples == i // samples else 0)
        return sympy.Matrix(entries) / (samples - 1)

    def class_vector(c: int) -> sympy.Matrix:
        entries = [classes - 1 if j // samples == c else -1 for j in range(count)]
        return sympy.Matrix(entries) / (classes - 1)

    return [
        [sample_vector(i) for i in range(count)],
        [class_vector(c) for c in range(classes)],
        [sympy.ones(count, 1)],
    ]


def _rows(settings: BlockKernel) -> list[dict[str, Any]]:
    """A row for each component of Table 1, see `measure`."""
    classes = settings.classes
    samples = settings.samples
    numbers = [sympy.nsimplify(value, rational=True) for value in settings.kernel]
    sizes: dict[str, float] = {"classes": classes, "samples": samples}
    sizes |= {name: float(number) for name, number in zip(NAMES, numbers, strict=True)}
    examples = _examples(classes, samples, numbers)
    differing = _differing_entries(classes, samples)
    polynomial = _polynomial(settings.symbols.classes, settings.symbols.samples)
    rows = []
    for index, component in enumerate(COMPONENTS):
        row = {
            "component": component,
            **sizes,
            **examples[index],
            "symbolic": differing[index],
            **polynomial[index],
        }
        rows.append(row)
    return rows


def _examples(classes: int, samples: int, numbers: Sequence[Any]) -> list[dict[str, Any]]:
    """For each component: what Table 1 states for a kernel of rational numbers, and its check."""
    matrix = kernel(classes, samples, numbers)
    values = stated_eigenvalues(classes, samples, numbers)
    multiplicities = stated_multiplicities(classes, samples)
    columns = []
    for index, vectors in enumerate(stated_vectors(classes, samples)):
        differences = _differences(matrix, values[index], vectors)
        column = {
            "value": float(values[index]),
            "multiplicity": multiplicities[index],
            "vectors": len(vectors),
            "rank": sympy.Matrix.hstack(*vectors).rank(),
            "residual": float(max(abs(entry) for entry in differences)),
        }
        columns.append(column)
    return columns


def _differing_entries(classes: int, samples: int) -> list[int]:
    """For each component: how many entries of K v - lambda v are not 0, for a K of symbols."""
    symbols = sympy.symbols(NAMES)
    matrix = kernel(classes, samples, symbols)
    values = stated_eigenvalues(classes, samples, symbols)
    counts = []
    for value, vectors in zip(values, stated_vectors(classes, samples), strict=True):
        differences = _differences(matrix, value, vectors)
        counts.append(sum(entry.expand() != 0 for entry in differences))
    return counts


def _polynomial(classes: int, samples: int) -> list[dict[str, Any]]:
    """For each component: the stated multiplicity, and that in the characteristic polynomial."""
    stated = stated_multiplicities(classes, samples)
    columns = []
    for index, power in enumerate(powers_of_roots(classes, samples)):
        column = {
            "small_classes": classes,
            "small_samples": samples,
            "small_stated": stated[index],
            "power": power,
        }
        columns.append(column)
    return columns


def _differences(matrix: Any, value: Any, vectors: Sequence[Any]) -> list[Any]:
    """The entries of K v - lambda v for all vectors, exactly."""
    entries = []
    for vector in vectors:
        entries += list(matrix * vector - value * vector)
    return entries


def powers_of_roots(classes: int, samples: int) -> list[int]:
    """How often x - lambda_single, x - lambda_class and x - lambda_global divide det(x I - K)."""
    x = sympy.Symbol("x")
    symbols = sympy.symbols(NAMES)
    matrix = kernel(classes, samples, symbols)
    _, factors = sympy.factor_list(matrix.charpoly(x).as_expr(), x, *symbols)
    powers = []
    for eigenvalue in stated_eigenvalues(classes, samples, symbols):
        root = x - eigenvalue
        powers.append(sum(power for factor, power in factors if sympy.expand(factor - root) == 0))
    return powers


def _products(classes: int, samples: int) -> list[dict[str, Any]]:
    """The inner products of a residual r of symbols with all eigenvectors, beside (11) and (12)."""
    r = sympy.Matrix(sympy.symbols(f"r0:{classes * samples}"))  # (N, 1)
    equations = ("(12), right", "(12), left", "(11)")
    forms = _printed_products(r, classes, samples)
    eigenvectors = stated_vectors(classes, samples)
    rows = []
    for name, equation, printed, vectors in zip(
        COMPONENTS, equations, forms, eigenvectors, strict=True
    ):
        differing = 0
        for vector, form in zip(vectors, printed, strict=True):
            product = (r.T * vector)[0]
            differing += sympy.expand(product - form) != 0
        row = {
            "component": name,
            "equation": equation,
            "entries": len(printed),
            "differing": differing,
        }
        rows.append(row)
    return rows


def _printed_products(r: sympy.Matrix, classes: int, samples: int) -> list[list[Any]]:
    """The inner products of a residual r (N, 1) as printed, in the order of `stated_vectors`.

    With v_i^c it is m / (m - 1) (r_i - <r>_c), with v_c it is N / (C - 1) (<r>_c - <r>), and with
    v_0 it is N <r>; <r>_c is the mean of class c, and <r> that of all samples.
    """
    count = classes * samples
    mean = sum(r) / count
    class_means = [sum(r[c * samples : (c + 1) * samples]) / samples for c in range(classes)]
    single = []
    for i in range(count):
        deviation = r[i] - class_means[i // samples]
        single.append(deviation * samples / (samples - 1))
    by_class = [(class_mean - mean) * count / (classes - 1) for class_mean in class_means]
    return [single, by_class, [count * mean]]
