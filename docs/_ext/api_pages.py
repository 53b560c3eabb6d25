"""One page per group of public names; the groups are the comments in `finitewidth.library.names`.

The entries themselves are written by Sphinx from the docstrings.
"""

import inspect
import re
from pathlib import Path

import finitewidth
from finitewidth.library import names

# what the functions of a group return or take; it has no public name of its own
BESIDE = {
    "Networks at initialisation": (
        "finitewidth.library.trust.Trust",
        "finitewidth.kernels.ntk_init.estimators.Estimate",
        "finitewidth.kernels.ntk_init.moments.LogMoments",
        "finitewidth.kernels.ntk_init.infinite_width.MeanField",
    ),
    "Given networks, trained or not": (
        "finitewidth.kernels.trained.Options",
        "finitewidth.kernels.trained.eigenvalue.Eigenpair",
        "finitewidth.measures.blocks.BlockMeans",
        "finitewidth.library.study.Study",
    ),
    "Gates and paths": ("finitewidth.kernels.npk.NuValue",),
}


def groups() -> dict[str, list[str]]:
    """Return title of a group -> its public names, in the order of `names.HOME`."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in inspect.getsource(names).splitlines():
        if comment := re.fullmatch(r" {4}# (.+)", line):
            title = comment[1][0].upper() + comment[1][1:]
        elif (entry := re.match(r' {4}"(\w+)": ', line)) and entry[1] in names.HOME:
            found.setdefault(title, []).append(entry[1])
    return found


def slug(title: str) -> str:
    """Return the name of the page of a group."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def write(folder: Path) -> None:
    """Write ``api/<group>.rst`` for every group."""
    (folder / "api").mkdir(exist_ok=True)
    for title, members in groups().items():
        text = "\n".join(_page(title, members))
        (folder / "api" / f"{slug(title)}.rst").write_text(text, encoding="utf-8")


def _page(title: str, members: list[str]) -> list[str]:
    lines = [title, "=" * len(title), "", ".. currentmodule:: finitewidth", "",
             ".. autosummary::", "   :nosignatures:", ""]  # fmt: skip
    lines += [f"   {name}" for name in members]
    for name in members:
        lines += ["", name, "-" * len(name), "", *_entry(f"finitewidth.{name}")]
    if beside := BESIDE.get(title):
        heading = "What they take and return"
        lines += ["", heading, "-" * len(heading)]
        for path in beside:
            lines += ["", *_entry(path, is_class=True)]
    return [*lines, ""]


def _entry(path: str, is_class: bool = False) -> list[str]:
    thing = None if is_class else getattr(finitewidth, path.rpartition(".")[2])
    if not is_class and not inspect.isclass(thing):
        return [f".. autofunction:: {path}"]
    if not is_class and issubclass(thing, Exception):
        return [f".. autoexception:: {path}"]
    # scikit-learn adds a method; the fields of a named tuple would be described twice
    members = ["   :members:", "   :exclude-members: set_score_request"]
    if path.endswith("NuValue"):
        members = []
    return [f".. autoclass:: {path}", *members]
