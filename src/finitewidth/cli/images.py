"""``--images FOLDER``: a folder of images of the user, for all datasets of the papers."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from finitewidth.cli import running
from finitewidth.common.declarations import paper_names
from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import merged, overrides, preset_only, results_folder, typed
from finitewidth.data.places import own_images, registered

CONFIG = "config"


def names(images: Path | None) -> tuple[str, ...]:
    """Return the name of the source that a folder becomes; nothing for None.

    Raises:
        ConfigError: the folder does not contain ``train`` and ``test``.
    """
    return own_images(registered({"images": str(images)})) if images else ()


def settings(
    images: Path | None, preset: str, given: Sequence[str], targets: Sequence[str]
) -> list[str]:
    """Return the overrides of a run: those given, the folder, and numbers that fit the folder.

    Args:
        images: the folder; None leaves the overrides as they are.
        preset: of sizes.
        given: overrides, ``key=value`` in YAML.
        targets: artifacts, papers or experiments; none for everything. The settings of their papers
            are fitted.

    Raises:
        ConfigError: an override is no YAML, the folder does not contain ``train`` and ``test``, or
            it lacks classes that a setting names.
    """
    if images is None:
        return list(given)
    from finitewidth.pipeline.tree_sizes import fitted

    config = preset_only(preset, CONFIG)
    for text in given:
        config = merged(config, typed(_parsed(text)))
    data = {**config["data"], "images": str(images)}
    full = fitted({**config, "data": registered(data)}, _papers(targets, config))
    return overrides({**full, "data": data}, CONFIG)


def settings_of_run(images: Path | None, preset: str, seed: int, given: Sequence[str]) -> list[str]:
    """Return the overrides of a run that was made: those of `settings` for the papers it made.

    Raises:
        ConfigError: as `settings`.
    """
    results = Path(results_folder(preset, seed, names(images)))
    made = [paper for paper in paper_names() if (results / paper).is_dir()]
    return settings(images, preset, given, made)


def _papers(targets: Sequence[str], config: dict) -> list[str]:
    """The papers of the targets; all of them if a target is a file or belongs to no paper."""
    known = [name for name in paper_names() if name in config]
    named = {target.partition("_")[0] for target in targets}
    return [name for name in known if name in named] if named and named <= set(known) else known


def _parsed(text: str) -> dict:
    key, equals, value = text.partition("=")
    try:
        if not equals:
            raise ValueError("there is no =")
        return {key: yaml.safe_load(value)}
    except (yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"--config {text}: {reason}; write KEY=VALUE in YAML") from error


def report(images: Path | None, preset: str, seed: int, given: Sequence[str] = ()) -> int:
    """Build the report from the results for a folder of images; return the exit status.

    Args:
        images: the folder; None for the datasets of the settings.
        preset: of sizes.
        seed: base seed.
        given: the overrides of the run, ``key=value`` in YAML.
    """
    if images is None:
        return running.report(preset, seed, *given)
    own = names(images)
    chosen = settings_of_run(images, preset, seed, given)
    status = running.run_rule("report_now", preset, f"seed={seed}", *chosen)
    if status == 0:
        print(f"{results_folder(preset, seed, own)}/report/index.html")
    return status
