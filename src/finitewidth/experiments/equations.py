"""Tables of equations of a paper, in LaTeX and as text."""

from collections.abc import Mapping, Sequence

import pandas as pd

Rows = Sequence[tuple[str, str, str, str]]  # label, network, LaTeX, text
Printed = Mapping[tuple[str, str, str], tuple[str, str]]


def equation_rows(tables: Mapping[str, Rows], printed: Printed | None = None) -> pd.DataFrame:
    """Return the equations of all tables as rows.

    ``tables`` maps each artifact to its equations, and the notes below it with the label ``note``.
    ``printed`` maps artifact, label and network to the right-hand side that the paper prints, in
    LaTeX and as text, where it differs from ours.
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
