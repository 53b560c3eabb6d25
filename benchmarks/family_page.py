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
    names = {library: part["family"].nunique() for library, part in rows.groupby("library")}
    counts = " and ".join(f"{count} families of `{name}`" for name, count in names.items())
    yield (
        f"{counts}, {rows['functions'].sum():,} comparisons, "
        f"{rows['seconds'].sum() / 60:.0f} minutes of CPU time for ours. Run with "
        f"{_several(rows['versions'])}\non {_several(rows['date'])}, at commit "
        f"{_several(rows['commit'])}, on {_several(rows['processor'])}."
    )
    table = pd.DataFrame([_summary(*each) for each in rows.groupby(["library", "group"])])
    yield table.to_markdown(index=False)
    yield from _lists(rows)


def _several(values: pd.Series) -> str:
    return ", and ".join(sorted({*values}))


def _summary(names: tuple[str, str], rows: pd.DataFrame) -> dict[str, object]:
    """Return the line of one group of families."""
    right = rows[rows["mixes"] != ""]
    library, group = names
    return {
        "library": library,
        "models of": group,
        "families": rows["family"].nunique(),
        "comparisons": rows["functions"].sum(),
        "agree": rows["agree"].sum(),
        "refused, rightly": right["refused"].sum(),
        "others": (rows["functions"] - rows["agree"]).sum() - right["refused"].sum(),
        "with a warning": rows["warned"].sum(),
        "float64": _largest(rows[rows["lowest"] == FULL]),
        "float64, float32 inside": _largest(
            rows[(rows["dtype"] == FULL) & (rows["lowest"] == HALF)]
        ),
        "float32": _largest(rows[rows["dtype"] == HALF]),
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
    for (library, group), part in rows.groupby(["library", "group"]):
        listed = ", ".join(sorted(part["family"].unique()))
        yield f"{library}, {group}: {listed}."


def _with_words(title: str, rows: pd.DataFrame) -> Iterator[str]:
    """Yield a title and a line for each row, if there are any."""
    lines = [
        f"- `{row['family']}`, {row['dtype']}: {_short(row['words'])}" for _, row in rows.iterrows()
    ]
    if lines:
        yield title
        yield "\n".join(lines)


def _short(words: str) -> str:
    first = words.split(" | ")[0]
    return first if len(first) <= 200 else first[:200] + " ..."
