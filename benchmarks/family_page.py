"""The table of the comparison with families of public models, and its section of the docs."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

FILE = Path("benchmarks/results/families/families.csv")
PAGE = Path("docs/reliability.md")
START = "<!-- families -->"
END = "<!-- end of families -->"
KEYS = ["library", "family", "dtype"]
FACTS = ["processor", "versions", "commit", "date"]
FULL = "float64"
HALF = "float32"


def store(table: pd.DataFrame, root: Path) -> None:
    """Write the rows of a run into the table; rows of other families stay."""
    file = root / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():
        old = pd.read_csv(file, keep_default_na=False)
        again = pd.MultiIndex.from_frame(old[KEYS]).isin(pd.MultiIndex.from_frame(table[KEYS]))
        table = pd.concat([old[~again], table])
    table = table.sort_values(["library", "group", *KEYS[1:]], ascending=[False, *[True] * 3])
    table.to_csv(file, index=False, float_format="%.3g")


def read(root: Path) -> pd.DataFrame:
    rows = pd.read_csv(root / FILE, keep_default_na=False)
    rows["difference"] = pd.to_numeric(rows["difference"])
    return rows


def write(root: Path, into: Path | None = None) -> Path:
    """Write the section of the page between its marks, and return the page."""
    text = (root / PAGE).read_text(encoding="utf-8")
    before, rest = text.split(START)
    _, after = rest.split(END)
    page = (into or root) / PAGE
    page.parent.mkdir(parents=True, exist_ok=True)
    section = "\n\n".join(section_of(read(root)))
    page.write_text(f"{before}{START}\n\n{section}\n\n{END}{after}", encoding="utf-8")
    return page


def section_of(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the paragraphs of the section."""
    yield _run_facts(rows)
    lines = [_summary(*names, group) for names, group in rows.groupby(["library", "group"])]
    yield pd.DataFrame(lines).to_markdown(index=False)
    yield from _lists(rows)


def _run_facts(rows: pd.DataFrame) -> str:
    """Return the numbers of families and comparisons, and when and where they were computed."""
    families = rows.groupby("library")["family"].nunique()
    counts = " and ".join(f"{count} families of `{name}`" for name, count in families.items())
    comparisons = rows["functions"].sum()
    minutes = rows["seconds"].sum() / 60
    versions = _distinct(rows["versions"])
    dates = _distinct(rows["date"])
    commits = _distinct(rows["commit"])
    processors = _distinct(rows["processor"])
    return (
        f"{counts}, {comparisons:,} comparisons, {minutes:.0f} minutes of CPU time for ours. "
        f"Run with {versions}\non {dates}, at commit {commits}, on {processors}."
    )


def _distinct(values: pd.Series) -> str:
    return ", and ".join(sorted({*values}))


def _summary(library: str, group: str, rows: pd.DataFrame) -> dict[str, object]:
    """Return the line of one group of families."""
    comparisons = rows["functions"].sum()
    agree = rows["agree"].sum()
    refused = rows.loc[rows["mixes"] != "", "refused"].sum()  # rightly: they mix inputs
    in_full = rows[rows["lowest"] == FULL]
    half_inside = rows[(rows["dtype"] == FULL) & (rows["lowest"] == HALF)]
    in_half = rows[rows["dtype"] == HALF]
    return {
        "library": library,
        "models of": group,
        "families": rows["family"].nunique(),
        "comparisons": comparisons,
        "agree": agree,
        "refused, rightly": refused,
        "others": comparisons - agree - refused,
        "with a warning": rows["warned"].sum(),
        "float64": _largest(in_full),
        "float64, float32 inside": _largest(half_inside),
        "float32": _largest(in_half),
    }


def _largest(rows: pd.DataFrame) -> str:
    """Return the largest distance of what agrees or not, in words."""
    largest = rows["difference"].max()
    return "" if pd.isna(largest) else f"{largest:.0e}"


def _lists(rows: pd.DataFrame) -> Iterator[str]:
    """Yield what was refused, did not agree, or gave a warning, and the names of all families."""
    mixing = rows[rows["mixes"] != ""]
    for _, row in mixing.drop_duplicates(KEYS[:2]).iterrows():
        yield f"Refused rightly: `{row['family']}` of {row['library']}: {row['mixes']}."
    others = rows[(rows["mixes"] == "") & (rows["functions"] > rows["agree"])]
    yield from _with_words("Not as plain autograd:", others)
    warned = "With a warning, after which autograd computed the gradients that it names:"
    yield from _with_words(warned, rows[rows["warned"] > 0])
    for (library, group), members in rows.groupby(["library", "group"]):
        names = ", ".join(sorted(members["family"].unique()))
        yield f"{library}, {group}: {names}."


def _with_words(title: str, rows: pd.DataFrame) -> Iterator[str]:
    """Yield a title and a line for each row, if there are any."""
    lines = []
    for _, row in rows.iterrows():
        lines.append(f"- `{row['family']}`, {row['dtype']}: {_short(row['words'])}")
    if lines:
        yield title
        yield "\n".join(lines)


def _short(words: str) -> str:
    first = words.split(" | ")[0]
    return first if len(first) <= 200 else first[:200] + " ..."
