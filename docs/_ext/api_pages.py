"""One page per group of public names.

The entries themselves are written by Sphinx from the docstrings.
"""

import inspect
import re
from pathlib import Path

import finitewidth

GROUPS = {
    "Networks at initialisation": (
        "Initialisation",
        "constant_width",
        "network",
        "draw_ntk",
        "ntk_moments",
        "trust",
        "dispersion",
        "mean_ratio",
        "dispersion_limit",
        "infinite_width",
        "infinite_width_of_gram",
        "chi_1",
        "fixed_variance",
        "phase",
        "border",
    ),
    "Given networks, trained or not": (
        "FullyConnected",
        "traced_kernel",
        "full_kernel",
        "kernel_diagonal",
        "kernel_terms",
        "output_norms",
        "largest_eigenvalue",
        "tangent_operator",
        "cross_kernel",
        "kernel_over_training",
        "tiled_kernel",
        "block_means",
        "label_alignment",
        "KernelRegression",
        "linearised",
        "study",
    ),
    "Gates and paths": ("Architecture", "train_gated", "overlap", "npk", "nu"),
    "Networks of infinite width": ("wide_kernel", "cntk"),
    "Results of the papers": ("load",),
    "Errors": ("FinitewidthError", "ConfigError"),
}
# what the functions of a group return or take; it has no public name of its own
BESIDE = {
    "Networks at initialisation": (
        "finitewidth.library.law_trust.Trust",
        "finitewidth.library.module_trust.NetworkTrust",
        "finitewidth.library.intervals.Interval",
        "finitewidth.library.dispersion.Dispersion",
        "finitewidth.kernels.ntk_init.estimators.Estimate",
        "finitewidth.kernels.ntk_init.moments.LogMoments",
        "finitewidth.kernels.ntk_init.infinite_width.MeanField",
    ),
    "Given networks, trained or not": (
        "finitewidth.kernels.trained.Options",
        "finitewidth.kernels.trained.eigenvalue.Eigenpair",
        "finitewidth.kernels.trained.operator.TangentOperator",
        "finitewidth.kernels.trained.operator.LinearMap",
        "finitewidth.measures.blocks.BlockMeans",
        "finitewidth.library.linearised.Linearised",
        "finitewidth.library.study.Study",
    ),
    "Gates and paths": ("finitewidth.kernels.npk.NuValue",),
    "Results of the papers": (
        "finitewidth.library.loaded.Loaded",
        "finitewidth.records.tables.Column",
    ),
}

# what follows the entries of a group: a file beside this one
APPENDED = {"Networks of infinite width": "wide_layers.txt"}


def slug(title: str) -> str:
    """Return the name of the page of a group."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def write(folder: Path) -> None:
    """Write ``api/<group>.rst`` for every group."""
    (folder / "api").mkdir(exist_ok=True)
    for title, members in GROUPS.items():
        text = "\n".join(_page(title, members))
        (folder / "api" / f"{slug(title)}.rst").write_text(text, encoding="utf-8")


def _page(title: str, members: tuple[str, ...]) -> list[str]:
    lines = [
        title,
        "=" * len(title),
        "",
        ".. currentmodule:: finitewidth",
        "",
        ".. autosummary::",
        "   :nosignatures:",
        "",
    ]
    lines += [f"   {name}" for name in members]
    for name in members:
        lines += ["", name, "-" * len(name), "", *_entry(f"finitewidth.{name}")]
    if beside := BESIDE.get(title):
        heading = "What they take and return"
        lines += ["", heading, "-" * len(heading)]
        for path in beside:
            lines += ["", *_entry(path, is_class=True)]
    if name := APPENDED.get(title):
        text = Path(__file__).with_name(name).read_text(encoding="utf-8")
        lines += ["", *text.splitlines()]
    return [*lines, ""]


def _entry(path: str, is_class: bool = False) -> list[str]:
    thing = None if is_class else getattr(finitewidth, path.rpartition(".")[2])
    if not is_class and not inspect.isclass(thing):
        return [f".. autofunction:: {path}"]
    if not is_class and issubclass(thing, Exception):
        return [f".. autoexception:: {path}"]
    # scikit-learn adds methods; the fields of a named tuple would be described twice
    added = "set_predict_request, set_score_request"
    members = ["   :members:", f"   :exclude-members: {added}"]
    if path.endswith("NuValue"):
        members = []
    return [f".. autoclass:: {path}", *members]
