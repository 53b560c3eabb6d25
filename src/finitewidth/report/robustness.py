"""The verdicts under other base seeds, as `make robustness` left them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from finitewidth.claims.robustness import TABLE, YES
from finitewidth.common import result_files
from finitewidth.common.errors import ResultError

Row = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Robustness:
    """Verdicts on the same claims under several base seeds.

    Attributes:
        file: the table that they were read from.
        seeds: the base seeds other than 0, ascending.
        claims: claim -> a row per base seed, seed 0 first.
        outdated: claims that were judged by other code or settings, and are left out.
    """

    file: str
    seeds: tuple[str, ...]
    claims: Mapping[str, tuple[Row, ...]]
    outdated: tuple[str, ...]

    @property
    def changed(self) -> dict[str, tuple[Row, ...]]:
        """The claims with another verdict under one of the base seeds."""
        return {claim: rows for claim, rows in self.claims.items() if _changes(rows)}

    @property
    def moved(self) -> dict[str, tuple[Row, ...]]:
        """The claims whose verdict stays the same while other comparisons fail."""
        return {
            claim: rows
            for claim, rows in self.claims.items()
            if not _changes(rows) and len({row["failing_comparisons"] for row in rows}) > 1
        }

    def told(self, claim: str) -> str:
        """What other base seeds say about a claim; empty if it was not judged again."""
        rows = self.claims.get(claim, ())
        if not rows:
            return ""
        others = rows[1:]
        if not _changes(rows):
            same = f"same verdict with {_named([row['seed'] for row in others])}"
            return f"{same}, but other comparisons fail" if claim in self.moved else same
        verdicts = dict.fromkeys(row["verdict"] for row in others)
        by_verdict = {
            word: [r["seed"] for r in others if r["verdict"] == word] for word in verdicts
        }
        return "; ".join(f"{word} with {_named(seeds)}" for word, seeds in by_verdict.items())


def read_robustness(results: str | Path, identities: Mapping[str, str]) -> Robustness | None:
    """Read the verdicts under other base seeds.

    Args:
        results: the folder of the results of base seed 0.
        identities: paper -> identity of the verdicts that today's code and settings would give
            (`finitewidth.pipeline.robustness.Robustness.identities`).

    Returns:
        None if the table does not exist.

    Raises:
        ResultError: the table is damaged.
    """
    file = Path(results, TABLE)
    if not file.is_file():
        return None
    claims: dict[str, list[Row]] = {}
    outdated: dict[str, None] = {}
    try:
        for row in result_files.read_rows(file, empty=True):
            if row["identity"] == identities.get(row["paper"]):
                claims.setdefault(row["claim"], []).append(row)
            else:
                outdated[row["claim"]] = None
        rows = [row for found in claims.values() for row in found]
        seeds = sorted({row["seed"] for row in rows} - {"0"}, key=int)
        ordered = {claim: tuple(sorted(found, key=lambda row: int(row["seed"])))
                   for claim, found in claims.items()}  # fmt: skip
    except (KeyError, ValueError) as error:
        raise ResultError(f"{file} is damaged ({error}); run `make robustness` again") from error
    return Robustness(file=str(file), seeds=tuple(seeds), claims=ordered, outdated=tuple(outdated))


def _changes(rows: Sequence[Row]) -> bool:
    return any(row["changed"] == YES for row in rows)


def _named(seeds: Sequence[str]) -> str:
    return f"base seed{'s' * (len(seeds) > 1)} {', '.join(seeds)}"
