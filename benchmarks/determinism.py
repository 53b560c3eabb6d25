"""What differs between two results folders: of other runs, cores, folders, days or machines.

    python benchmarks/determinism.py results/quick elsewhere/results/quick

Compares byte for byte all tables, arrays and pictures; logs, times and provenance may differ. For
CSV files that differ it prints the largest difference of their numbers. Exits 1 if one differs.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

COMPARED = {".csv", ".md", ".tex", ".npz", ".pdf", ".svg", ".png"}
ASIDE = {"logs", "benchmarks", ".checkpoints", ".sums", "report"}  # times, and what holds them


def files(folder: Path) -> dict[str, Path]:
    """Results by their path below the folder."""
    found = (file.relative_to(folder) for file in sorted(folder.rglob("*")))
    return {str(name): folder / name for name in found
            if name.suffix in COMPARED and not ASIDE & set(name.parts)}  # fmt: skip


def differences(ours: Path, theirs: Path) -> Iterator[str]:
    """A line for every file that only one has, or that differs."""
    a, b = files(ours), files(theirs)
    for name in sorted(a.keys() | b.keys()):
        if name not in a or name not in b:
            yield f"{name}: only in {ours if name in a else theirs}"
        elif a[name].read_bytes() != b[name].read_bytes():
            how = numbers(a[name], b[name]) if name.endswith(".csv") else "differs"
            yield f"{name}: {how}"


def numbers(ours: Path, theirs: Path) -> str:
    """The largest difference of two CSV files, in words."""
    import pandas as pd

    a, b = pd.read_csv(ours), pd.read_csv(theirs)
    if a.shape != b.shape or list(a) != list(b):
        return f"shapes {a.shape} and {b.shape}, or other columns"
    common = a.select_dtypes("number").columns.intersection(b.select_dtypes("number").columns)
    gap = (a[common] - b[common]).abs()
    relative = (gap / b[common].abs()).where(gap > 0)
    text = [c for c in a if c not in common and not a[c].equals(b[c])]
    return (f"largest difference {gap.max().max():.3g}, relative {relative.max().max():.3g}"
            + f"; words differ in {', '.join(text)}" * bool(text))  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ours", type=Path)
    parser.add_argument("theirs", type=Path)
    options = parser.parse_args()
    found = list(differences(options.ours, options.theirs))
    count = len(files(options.ours))
    print("\n".join([*found, f"{len(found)} of {count} files differ" if found else
                     f"all {count} files are equal, byte for byte"]))  # fmt: skip
    return int(bool(found) or not count)


if __name__ == "__main__":
    sys.exit(main())
