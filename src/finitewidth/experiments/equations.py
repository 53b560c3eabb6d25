"""Tables of equations of a paper, in LaTeX and as text."""

from collections.abc import Mapping, Sequence

import pandas as pd

Rows = Sequence[tuple[str, str, str, str]]  # label, network, LaTeX, text
Printed = Mapping[tuple[str, str, str], tuple[str, str]]


def equation_rows(tables: Mapping[str, Rows], printed: Printed | None = None) -> pd.DataFrame:
    """Return the equations of all tables as rows.

    Args:
        tables: artifact -> its equations, and the notes below it with the label ``note``.
        printed: artifact, label and network -> the right-hand side that the paper prints, in LaTeX
            and as text, where it differs from ours.

    Returns:
        artifact, row (the label), column (the network), text, latex, printed_text, printed_latex.
        The last two are missing where the paper prints the same, and for notes.
    """
    rows = []
    for artifact, equations in tables.items():
        for label, network, latex, text in equations:
            theirs = (printed or {}).get((artifact, label, network), (None, None))
            rows.append({
                "artifact": artifact, "row": label, "column": network, "text": text,
                "latex": latex, "printed_text": theirs[1], "printed_latex": theirs[0],
            })  # fmt: skip
    return pd.DataFrame(rows)
