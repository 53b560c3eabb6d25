"""The ledger under a null: how often does it contradict claims that are exactly borderline?

There are two nulls. In the first, *estimates* are drawn. A claim keeps its comparisons with their
standard errors, degrees of freedom and thresholds. The truth of each binding comparison is put at
its threshold, and the estimate follows the law that its interval assumes. This checks Holm's
correction and `decide`.

In the second, *tables* are drawn, so that the statistics are checked too. All cells of a table get
the same law:

- A row of a table of runs is one run. Its values follow one law in all cells, or all rows are
  shuffled over the cells. Cells are then exchangeable. Every comparison of two cells with the
  threshold 0 is exactly borderline, whatever the law.
- A row of a table of estimates has a value and its standard error. The values of all cells are
  equal, plus normal noise of their own relative error. Such rows must not be shuffled: estimates
  differ by many standard errors, so that a wrong order is a true contradiction by the shuffled
  table.
- Other tables are exact. All their rows get the same values.

Comparisons with other thresholds are no part of the second null. `borderline` finds the comparisons
that are: their value is equal to the threshold if all cells have the same values without noise.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
from scipy import stats
from tests.helpers.judged_claims import Tables, made_up, value_columns

from finitewidth.claims.estimates import Estimate, Extreme
from finitewidth.claims.ledger import Claim
from finitewidth.claims.verdicts import (
    CONTRADICTED,
    IN_PART,
    LEVEL,
    CannotDecideError,
    Part,
    Terms,
    decide,
    holm,
)
from finitewidth.common.errors import ResultError
from finitewidth.declarations.references import table_file
from finitewidth.records import result_files

FOLDER = "FINITEWIDTH_RESULTS"  # names the results of a finished run, such as results/quick
ALARMS = (CONTRADICTED, IN_PART)
# what judges may raise for tables that do not meet the needs of their claims
UNMET = (CannotDecideError, ArithmeticError, LookupError, TypeError, ValueError)
CHECKED = 20
SAME = "same"
INDEPENDENT = "independent"  # noise of the comparisons of a claim


def terms_of(claim: Claim) -> Terms:
    """Those of a run at the paper's own sizes, on the paper's data."""
    return Terms(kind=claim.kind, hedged=bool(claim.hedge))


def sources(claim: Claim) -> Iterator[Tables]:
    """The made-up tables that support a claim, and those of a finished run if they are there."""
    yield made_up(claim)[0]()
    if folder := os.environ.get(FOLDER):
        try:
            files = {name: Path(folder, table_file(job)) for name, job in claim.reads.items()}
            yield {name: result_files.read_table(file) for name, file in files.items()}
        except ResultError:
            return


def compared(claim: Claim, tables: Tables) -> list[Part]:
    """The comparisons of a claim; none if the tables do not meet its needs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return list(claim.judge(tables))
        except UNMET:
            return []


def stream(*key: object) -> np.random.Generator:
    """Random numbers that depend on the key alone."""
    return np.random.default_rng(crc32(repr(key).encode()))


# ---- the first null: estimates


def all_binding(parts: Sequence[Part]) -> list[Part]:
    """The comparisons as if every threshold were the paper's, in its own range."""
    return [
        replace(part, paper=True, ours="", late=False, outside="", cut="", certain="")
        for part in parts
    ]


def others_failing(parts: Sequence[Part]) -> list[Part]:
    """All comparisons that are not binding fail clearly: Holm's rule then has to be widest."""
    return [part if part.binding else _aside(part, beyond=True) for part in parts]


def _aside(part: Part, beyond: bool) -> Part:
    """The comparison with an exact value that clearly holds or, ``beyond``, clearly fails."""
    threshold, sign, room = _end(part)
    value = threshold + sign if beyond else threshold - sign * room
    if isinstance(part, Extreme):
        part = replace(part, others=())
    return replace(part, value=value, standard_error=0.0, chance=None)


def _end(part: Part) -> tuple[float, int, float]:
    """A threshold, the sign of values beyond it, and how far on the other side values are fine."""
    threshold, sign = (part.high, 1) if np.isinf(part.low) else (part.low, -1)
    return threshold, sign, min(1.0, (part.high - part.low) / 2)


def at_border(part: Part, uniform: float, shift: float = 0.0) -> Part:
    """The comparison with an estimate whose truth is at the threshold.

    ``uniform`` is the probability of an estimate that lies further on the failing side. The truth
    lies ``shift`` standard errors on the failing side.

    Of an extreme of several estimates all truths are at the threshold. The estimate that decides is
    the worst of them, and the others lie on the claimed side.
    """
    threshold, sign, room = _end(part)
    if isinstance(part, Extreme):
        count = 1 + len(part.others)
        uniform = -np.expm1(np.log1p(-uniform) / count)  # the smallest of as many uniform numbers
        part = replace(part, others=(Estimate(threshold - sign * room),) * len(part.others))
    if part.chance is not None:
        beyond = uniform <= part.chance or shift > 0
        return replace(part, value=threshold + sign * (1 if beyond else -room))
    law = stats.norm if np.isinf(part.dof) else stats.t(part.dof)
    return replace(part, value=threshold + sign * (law.isf(uniform) + shift) * part.standard_error)


def alarms(
    parts: Sequence[Part], terms: Terms, uniforms: np.ndarray, shift: float = 0.0
) -> np.ndarray:
    """Whether `decide` calls a claim contradicted, or in part, in each of the replications.

    Exact binding comparisons hold. `decide` is called only where a p-value of a borderline
    comparison is small enough for Holm's rule; elsewhere none can fail. In the first `CHECKED`
    replications it is called at larger ones too. ``uniforms`` (replications, comparisons) and
    ``shift`` are those of `at_border`.
    """
    parts = [_aside(p, beyond=False) if p.binding and p.exact else p for p in parts]
    places = [i for i, p in enumerate(parts) if p.binding and not p.exact and not p.undefined]
    if not places:
        return np.zeros(len(uniforms), bool)
    # p-values are at least this large: between two thresholds the other end counts as well
    both = np.array([np.isfinite(parts[i].high - parts[i].low) for i in places])
    least = uniforms[:, places]
    least = np.where(both, np.minimum(least, 1 - least), least).min(axis=1)
    others = [p for i, p in enumerate(parts) if i not in places]
    left = len(parts) - sum(p.p_inside <= LEVEL for p in others)
    possible = (least <= LEVEL / left) | (shift > 0)
    possible |= (least <= 2 * LEVEL) & (np.arange(len(uniforms)) < CHECKED)
    found = np.zeros(len(uniforms), bool)
    for row in np.flatnonzero(possible):
        found[row] = is_alarm(parts, places, terms, uniforms[row], shift)
    return found


def is_alarm(
    parts: Sequence[Part], places: Sequence[int], terms: Terms, uniforms: np.ndarray, shift: float
) -> bool:
    """Whether `decide` calls a claim contradicted whose comparisons at ``places`` are drawn."""
    drawn = list(parts)
    for place in places:
        drawn[place] = at_border(parts[place], uniforms[place], shift)
    return decide(drawn, terms).verdict in ALARMS


def uniforms_of(rng: np.random.Generator, noise: str, shape: tuple[int, int]) -> np.ndarray:
    """(replications, comparisons) uniform numbers; the same for all comparisons, or independent."""
    if noise == SAME:
        return np.broadcast_to(rng.uniform(size=(shape[0], 1)), shape)
    return rng.uniform(size=shape)


# ---- the second null: tables

# the steps of the grid are about as large as the spread, so that many runs are alike
LAWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "constant": lambda z: np.ones_like(z),
    "normal": lambda z: 1 + 0.01 * z,
    "log-normal": np.exp,
    "grid": lambda z: 1 + 0.01 * np.round(0.8 * z),
}
SHUFFLED = "shuffled"
NULLS = (SHUFFLED, "normal", "log-normal", "grid")
RUNS = {"run", "seed"}
# column of standard errors -> the columns that they may belong to
ERRORS = {
    "error": ("dispersion", "value", "ratio"),
    "spread": ("y",),
    "standard_error": ("accuracy",),
    "trace_ratio_se": ("trace_ratio",),
}


def drawn_tables(tables: Tables, law: str, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Tables of the second null; ``law`` is `SHUFFLED` or one of `LAWS`, for the runs."""
    return {name: _drawn(name, rows, law, rng) for name, rows in tables.items()}


def _drawn(name: str, rows: pd.DataFrame, law: str, rng: np.random.Generator) -> pd.DataFrame:
    columns = _values_of(name, rows)
    if not columns or rows.empty:
        return rows
    values = rows[columns].to_numpy(float)
    if RUNS & set(rows.columns):
        if law == SHUFFLED:
            return _with(rows, columns, values[rng.permutation(len(values))])
        factors = LAWS[law](rng.standard_normal(values.shape))
        means = rows[columns].mean().to_numpy(float)  # of the values that there are
        return _with(rows, columns, means * factors)
    return _noisy(rows, columns, law, rng)


def _values_of(name: str, rows: pd.DataFrame) -> list[str]:
    """Columns of values. Borders of phases are places here, at which other tables are cut."""
    return [] if name == "borders" else value_columns(name, rows)


def _noisy(
    rows: pd.DataFrame, columns: Sequence[str], law: str, rng: np.random.Generator
) -> pd.DataFrame:
    """Everywhere the same values, plus noise for those that have a standard error."""
    changed = {column: float(rows[column].mean()) for column in columns}
    for error, owners in ERRORS.items():
        for owner in set(owners) & set(columns) if error in columns else ():
            # a number without an error is exact
            relative = (rows[error] / rows[owner].abs()).fillna(0).to_numpy(float)
            noise = 0 if law == "constant" else relative * rng.standard_normal(len(rows))
            changed[error] = abs(changed[owner]) * relative
            changed[owner] = changed[owner] * (1 + noise)
    return rows.assign(**changed)


def _with(rows: pd.DataFrame, columns: Sequence[str], values: np.ndarray) -> pd.DataFrame:
    return rows.assign(**dict(zip(columns, values.T, strict=True)))


def borderline(claim: Claim, tables: Tables, law: str) -> set[tuple]:
    """Keys of the comparisons that are exactly borderline in `drawn_tables`.

    These are differences with the threshold 0. If the tables are constant, a rank correlation is
    not a number, and is 0 otherwise; and a p-value (a comparison whose chance is 0) is that of a
    true null. The mean of a ratio of two cells is above 1, by Jensen's inequality. A ratio with the
    threshold 1 is therefore borderline for a narrow law only.
    """
    thresholds = {0.0, 1.0} if law == "normal" else {0.0}
    apart = {name: _told_apart(name, rows) for name, rows in tables.items()}
    found = set()
    for part in compared(claim, drawn_tables(apart, "constant", stream())):
        ends = thresholds & {part.low, part.high}
        unordered = 0 in ends and np.isnan(part.value)
        if unordered or part.chance == 0 or any(abs(part.value - end) < 1e-9 for end in ends):
            found.add(_key(part))
    drawn = compared(claim, drawn_tables(tables, law, stream(claim.id)))
    return found & {_key(part) for part in drawn if not part.exact}


def _told_apart(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Columns times numbers of their own: two tables or two columns are not equal by accident."""
    return rows.assign(
        **{
            column: rows[column] * stream(name, column).uniform(0.5, 2)
            for column in _values_of(name, rows)
        }
    )


def _key(part: Part) -> tuple:
    return part.name, part.low, part.high


def order_fails(claim: Claim, tables: Tables, keys: set[tuple]) -> bool:
    """Whether a borderline comparison fails after Holm's correction among them."""
    parts = [part for part in compared(claim, tables) if _key(part) in keys and not part.exact]
    return min(holm([part.p_inside for part in parts]), default=1.0) <= LEVEL


def order_alarms(claim: Claim, tables: Tables, law: str, replications: int) -> np.ndarray | None:
    """Whether a borderline comparison fails, in each replication; None if there is none.

    All comparisons count here, binding or not.
    """
    keys = borderline(claim, tables, law)
    if not keys:
        return None
    rng = stream(claim.id, law)
    draws = (drawn_tables(tables, law, rng) for _ in range(replications))
    return np.array([order_fails(claim, drawn, keys) for drawn in draws])
