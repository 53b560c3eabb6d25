r"""Compare two folders of results byte for byte.

    python benchmarks/determinism.py results/quick elsewhere/results/quick

The script compares tables, arrays and figures. Logs, times and provenance may differ. For CSV files
that differ, it prints the largest difference of their numbers. The exit status is 1 if a file
differs. With ``--row "what was compared"`` the result is written as a row of docs/reliability.md.
These variables restrict a newer processor to the instructions of an older one:

    ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 MKL_ENABLE_INSTRUCTIONS=SSE4_2 \
      OPENBLAS_CORETYPE=Nehalem NPY_DISABLE_CPU_FEATURES="AVX2 FMA3 AVX512F" snakemake ...
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

COMPARED = {".csv", ".md", ".tex", ".npz", ".pdf", ".svg", ".png"}
DOCUMENT = Path(__file__).parents[1] / "docs/reliability.md"
HEADING = "## Determinism"
HEAD = f"""
{HEADING}

`benchmarks/determinism.py --row` compares two folders of results byte for byte and writes one row
per comparison. It compares tables, arrays and figures; figures contain no dates. Sums of
floating-point numbers depend on the instructions of the processor. Results are therefore identical
on one kind of machine, independently of the folder, the day and the number of cores, but they
differ between kinds of machines. Trainings on a GPU and on a CPU differ in the same way; this has
not been measured.

| Compared | Files | Differ | Where, and by how much at most |
|---|---|---|---|
"""
ASIDE = {"logs", "benchmarks", ".checkpoints", "report"}  # folders that contain times


def files(folder: Path) -> dict[str, Path]:
    """Return the compared files by their path below the folder."""
    found = (file.relative_to(folder) for file in sorted(folder.rglob("*")))
    return {
        str(name): folder / name
        for name in found
        if name.suffix in COMPARED and not ASIDE & set(name.parts)
    }


def differences(ours: Path, theirs: Path) -> Iterator[str]:
    """Yield a line for every file that differs or that only one folder has."""
    a = files(ours)
    b = files(theirs)
    for name in sorted(a.keys() | b.keys()):
        if name not in a or name not in b:
            yield f"{name}: only in {ours if name in a else theirs}"
        elif a[name].read_bytes() != b[name].read_bytes():
            how = numbers(a[name], b[name]) if name.endswith(".csv") else "differs"
            yield f"{name}: {how}"


def numbers(ours: Path, theirs: Path) -> str:
    """Return a description of the largest difference of two CSV files."""
    import pandas as pd

    a = pd.read_csv(ours)
    b = pd.read_csv(theirs)
    if a.shape != b.shape or list(a) != list(b):
        return f"shapes {a.shape} and {b.shape}, or other columns"
    common = a.select_dtypes("number").columns.intersection(b.select_dtypes("number").columns)
    gap = (a[common] - b[common]).abs()
    largest = b[common].abs().max()  # differences are relative to the largest entry of the column
    relative = (gap.max() / largest).where(gap.max() > 0)
    text = [c for c in a if c not in common and not a[c].equals(b[c])]
    return (
        f"largest difference {gap.max().max():.3g}, relative {relative.max():.3g}"
        + f"; words differ in {', '.join(text)}" * bool(text)
    )


def summary(found: list[str]) -> str:
    """Return the median and the largest relative difference of the tables that differ."""
    sizes = {}
    for line in found:
        for size in re.findall(r"relative ([\d.e+-]+)", line):
            sizes[line.split(":")[0]] = float(size)
    if not sizes:
        return "; ".join(found)
    worst = max(sizes, key=sizes.get)
    return (
        f"{len(sizes)} tables; largest difference in each, relative to its column's largest: "
        f"median {median(sizes.values()):.1g}, at most {sizes[worst]:.1g} ({worst})"
    )


def write_row(document: Path, what: str, count: int, found: list[str]) -> None:
    """Add a row to the document, or replace the row with the same name."""
    before, _, after = document.read_text(encoding="utf-8").partition(f"\n{HEADING}")
    rows = [line for line in after.splitlines() if line.startswith("| ")][1:]
    rows = [row for row in rows if not row.startswith(f"| {what} |")]
    rows.append(f"| {what} | {count} | {len(found)} | {summary(found)} |")
    document.write_text(before + HEAD + "\n".join(rows) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ours", type=Path)
    parser.add_argument("theirs", type=Path)
    parser.add_argument("--row", metavar="WHAT", help="write a row of this name")
    options = parser.parse_args()
    found = list(differences(options.ours, options.theirs))
    count = len(files(options.ours))
    for line in found:
        print(line)
    if found:
        print(f"{len(found)} of {count} files differ")
    else:
        print(f"all {count} files are equal, byte for byte")
    if options.row:
        write_row(DOCUMENT, options.row, count, found)
    return int(bool(found) or not count)


if __name__ == "__main__":
    sys.exit(main())
