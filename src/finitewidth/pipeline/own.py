"""The network of the user in the workflow: when its jobs exist, and what marks its figures.

Its declarations are in ``workflow/own`` and not among those of the papers, so that lists, counts,
claims and data packages of the papers do not change. Its jobs exist only if the setting
``own.network`` names a network.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finitewidth.common.declarations import Paper, read_papers
from finitewidth.common.errors import ConfigError
from finitewidth.data.catalogue import ROLES, Source, find_source, source_for, unknown
from finitewidth.networks.own_file import own_file
from finitewidth.pipeline.footers import Footers

OWN = "own"
FOLDER = "workflow/own"
SCALE = "your network"  # stands where a paper's figure tells its scale


def own_papers(config: Mapping[str, Any], root: str | Path) -> tuple[Paper, ...]:
    """Return the declarations of the figures of the user's network; empty if there is none.

    Args:
        config: settings.
        root: folder of the project.
    """
    section = config.get(OWN)  # not checked yet
    wanted = isinstance(section, Mapping) and section.get("network") is not None
    return read_papers(Path(root) / FOLDER) if wanted else ()


def template_of(artifact: str, paper: str) -> str:
    """Return the file with the template of a caption."""
    folder = FOLDER if paper == OWN else "workflow/report"
    return f"{folder}/{artifact}.rst"


def network_of(config: Mapping[str, Any]) -> dict[str, str]:
    """Return what the jobs are told of the network: its file, and the digest of its content.

    Raises:
        ConfigError: see `finitewidth.networks.own_file.own_file`.
    """
    text = config[OWN]["network"]
    return {"file": text, "digest": own_file(text).digest}


def images_of(config: Mapping[str, Any]) -> Source:
    """Return the images on which the network is studied, the setting ``own.data``.

    Raises:
        ConfigError: it is neither a dataset of the papers nor a source.
    """
    name, trees = config[OWN]["data"], config["data"]["imagefolder"]
    if name in ROLES:
        return source_for(name, config["data"])
    try:
        return find_source(name, trees)
    except ConfigError:
        known = [*ROLES, "digits", "warped_digits", "digits_on_patches", *trees]
        raise ConfigError(f"own.data: {unknown('dataset', name, known)}") from None


def mark(config: Mapping[str, Any]) -> str:
    """Return the mark in each figure: that it shows the user's network, and on which images."""
    return f"your network: {own_file(config[OWN]['network']).name} · {images_of(config).title}"


def footer(footers: Footers, artifact: str) -> str:
    """Return the line below a figure: network, preset, images, and number of draws or runs."""
    config, job = footers.jobs.config, footers.jobs[artifact]
    changed = ", modified" * footers.scale(job.reads).modified
    seed = f", seed {config['seed']}" * bool(config["seed"])
    first, *more = mark(config).split(" · ")
    section = config[OWN]["dispersion" if artifact.endswith("dispersion") else "training"]
    counts = [f"{section[unit]:,} {unit}" for unit in ("draws", "runs") if unit in section]
    words = [f"{first} (not of a paper)", f"preset {config['preset']}{seed}{changed}"]
    return " · ".join([*words, *more, *counts])
