"""collapse Table 1: eigenvalues and eigenvectors of a block kernel, and their check."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.papers.collapse.columns import flow as columns
from finitewidth.records.tables import Table
from finitewidth.tables.numbers import plain
from finitewidth.tables.typeset import Typeset

TABLE = Table(
    columns.COMPONENT,
    columns.EIGENVALUE_TEXT,
    columns.EIGENVECTOR_TEXT,
    columns.MULTIPLICITY_TEXT,
    columns.EIGENVALUE_LATEX,
    columns.EIGENVECTOR_LATEX,
    columns.MULTIPLICITY_LATEX,
    columns.CLASSES,
    columns.SAMPLES,
    columns.GAMMA_D,
    columns.GAMMA_C,
    columns.GAMMA_N,
    columns.EIGENVALUE_OF_EXAMPLE,
    columns.VECTORS,
    columns.RANK,
    columns.RESIDUAL,
    columns.SMALL_CLASSES,
    columns.SMALL_SAMPLES,
    columns.POWER,
)
TITLE = "Eigenvalues and eigenvectors of a kernel made of class blocks"
# form -> component -> eigenvalue, eigenvector and multiplicity as printed; 1_m is a vector of ones
PRINTED = {
    "text": {
        "single": (
            "λ_single = γ_d - γ_c",
            "v_i^c = 1/(m-1) (m-1, -1_{m-1}ᵀ, 0_{N-m}ᵀ)ᵀ: sample i, rest of class c, others",
            "N - C",
        ),
        "class": (
            "λ_class = λ_single + m (γ_c - γ_n)",
            "v_c = 1/(C-1) ((C-1) 1_mᵀ, -1_{N-m}ᵀ)ᵀ: class c, others",
            "C - 1",
        ),
        "global": ("λ_global = λ_class + N γ_n", "v_0 = 1_N", "1"),
    },
    "latex": {
        "single": (
            r"$\lambda_{\mathrm{single}} = \gamma_d - \gamma_c$",
            r"$v_i^c = \frac{1}{m-1} {(m-1, -\mathbf{1}_{m-1}^\top, \mathbf{0}_{N-m}^\top)}^\top$: "
            "sample $i$, rest of class $c$, others",
            "$N - C$",
        ),
        "class": (
            r"$\lambda_{\mathrm{class}} = \lambda_{\mathrm{single}} + m {(\gamma_c - \gamma_n)}$",
            r"$v_c = \frac{1}{C-1} {((C-1) \mathbf{1}_m^\top, -\mathbf{1}_{N-m}^\top)}^\top$: "
            "class $c$, others",
            "$C - 1$",
        ),
        "global": (
            r"$\lambda_{\mathrm{global}} = \lambda_{\mathrm{class}} + N \gamma_n$",
            r"$v_0 = \mathbf{1}_N$",
            "$1$",
        ),
    },
}
COLUMNS = ("eigenvalue", "eigenvector", "multiplicity")
SIZES = "$C = {classes}$, $m = {samples}$"
VALUES = r"$\gamma_d = {gamma_d:g}$, $\gamma_c = {gamma_c:g}$, $\gamma_n = {gamma_n:g}$"


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per eigenvalue: as printed, and what exact arithmetic finds."""
    rows = tables["rows"].copy()
    for form, printed in PRINTED.items():
        names = [f"{column}_{form}" for column in COLUMNS]
        rows[names] = [printed[component] for component in rows["component"]]
    return rows


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset the printed decomposition and, to its right, what exact arithmetic finds."""
    notes = (_note(rows),)
    formulas = (_cells(rows, "latex"), notes)
    return Typeset(_cells(rows, "text"), TITLE, notes, formulas, spans=COLUMNS[:2])


def _cells(rows: pd.DataFrame, form: str) -> pd.DataFrame:
    """The cells of the table, as ``text`` or in ``latex``."""
    lines = []
    for row in rows.to_dict("records"):
        line = {column: row[f"{column}_{form}"] for column in COLUMNS}
        line["example"] = plain(row["value"])
        line["independent vectors"] = f"{row['rank']} of {row['vectors']}"
        line["residual"] = plain(row["residual"])
        line["power"] = str(row["power"])
        lines.append(line)
    return pd.DataFrame(lines)


def _note(rows: pd.DataFrame) -> str:
    """What the columns to the right are, with formulas in LaTeX."""
    example = rows.iloc[0].to_dict()
    small_sizes = SIZES.format(classes=example["small_classes"], samples=example["small_samples"])
    return (
        f"Left: as printed. Right: exact arithmetic. Example: {SIZES.format(**example)}, "
        f"{VALUES.format(**example)}; $\\lambda$, how many of the printed vectors are independent, "
        "and $\\max |K v - \\lambda v|$. Power: of the eigenvalue in the characteristic polynomial "
        f"with symbols, {small_sizes}"
    )
