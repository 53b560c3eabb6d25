"""The claims of all papers, their made-up tables, and what their judges say of tables."""

import importlib
from collections.abc import Callable, Mapping

import pandas as pd
from tests.helpers.project import ROOT

from finitewidth.claims import ledger
from finitewidth.claims.ledger import Claim
from finitewidth.claims.verdicts import Verdict
from finitewidth.declarations.papers import read_papers

DECLARED = read_papers(ROOT / "workflow/papers")
ALL = [claim for paper in DECLARED for claim in ledger.claims_of(paper.name)]
JUDGED = [claim for claim in ALL if claim.judge]
BY_ID = {claim.id: claim for claim in ALL}
# Columns that say where a value belongs, how it was computed or what was printed. All other
# numbers are values, and so are the borders that a table of that name has.
NOT_VALUES = frozenset(
    (
        "width",
        "depth",
        "run",
        "seed",
        "epoch",
        "time",
        "x",
        "lambda",
        "sigma_w2",
        "sigma_b2",
        "alpha_0",
        "cosine",
        "covariance",
        "stage",
        "copies",
        "draws",
        "hidden",
        "biases",
        "layers",
        "layer",
        "start",
        "end",
        "tap",
        "path",
        "bundle",
        "gating",
        "s",
        "s_prime",
        "shift",
        "size",
        "train",
        "runs",
        "dof",
        "reported_mean",
        "reported_spread",
        "diverged",
        "chosen",
        "comparable",
        "step_size",
        "floor",
        "step",
        "rate",
    )
)

Tables = Mapping[str, pd.DataFrame]


def made_up(claim: Claim) -> tuple[Callable[[], Tables], Callable[[], Tables]]:
    """Functions that return the supporting and the contradicting tables of a claim."""
    module = importlib.import_module(f"tests.claims.synthetic.{claim.paper}")
    assert claim.id in module.ROWS, f"{claim.id} has no made-up rows that support and contradict it"
    return module.ROWS[claim.id]


def judged_as(claim: Claim, tables: Tables, **situation) -> Verdict:
    """Judge a claim by tables, in a situation of the run."""
    return ledger.judge(claim, tables, ledger.Situation(**situation))


def verdict(claim: Claim, tables: Tables, **situation) -> str:
    """The verdict on a claim by tables."""
    return judged_as(claim, tables, **situation).verdict


def value_columns(name: str, rows: pd.DataFrame) -> list[str]:
    """The columns of the table of a name that hold values."""
    columns = []
    for column in rows.select_dtypes("number").columns:
        if column not in NOT_VALUES or (name, column) == ("borders", "sigma_w2"):
            columns.append(column)
    return columns
