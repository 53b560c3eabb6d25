"""``--images FOLDER``: a folder of images of the user, for all datasets of the papers."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from finitewidth.cli import running
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


def settings(images: Path | None, preset: str, given: Sequence[str]) -> list[str]:
    """Return the overrides of a run: those given, and the folder.

    Args:
        images: the folder; None leaves the overrides as they are.
        preset: of sizes.
        given: overrides, ``key=value`` in YAML.

    Raises:
        ConfigError: an override is no YAML, or the folder does not contain ``train`` and ``test``.
    """
    if images is None:
        return list(given)
    names(images)
    config = preset_only(preset, CONFIG)
    for text in given:
        config = merged(config, typed(_parsed(text)))
    return overrides(merged(config, {"data": {"images": str(images)}}), CONFIG)


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
    chosen = settings(images, preset, given)
    status = running.run_rule("report_now", preset, f"seed={seed}", *chosen)
    if status == 0:
        print(f"{results_folder(preset, seed, own)}/report/index.html")
    return status
