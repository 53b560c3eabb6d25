"""The option --config: names of settings with dots, and words that are refused."""

import pytest

from finitewidth.cli import overrides, running
from finitewidth.cli.main import main
from finitewidth.cli.options import Results
from finitewidth.common.errors import ConfigError
from finitewidth.settings.presets import assignments, completed


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["npf.nu.runs=3"], ["npf={nu: {runs: 3}}"]),
        (["npf={nu: {runs: 3}}"], ["npf={nu: {runs: 3}}"]),
        (
            [
                "npf.nu.runs=3",
                "trust.heat_widths.draws=300",
                "npf={nu: {epochs: 2}, kvf: {runs: 1}}",
            ],
            ["npf={nu: {runs: 3, epochs: 2}, kvf: {runs: 1}}", "trust={heat_widths: {draws: 300}}"],
        ),
        (["npf.nu.classes=[0, 1]", "npf.nu.width=8"], ["npf={nu: {classes: [0, 1], width: 8}}"]),
        (["data.imagefolder.my-tree=a b"], ["data={imagefolder: {my-tree: a b}}"]),
        (["data={images: Bücher/ü}"], ["data={images: Bücher/ü}"]),
        (["device=cuda", "data.root="], ["device=cuda", "data={root: null}"]),
    ],
)
def test_keys_may_have_dots(given, words):
    assert assignments(overrides.read(given)) == words


def test_snakemake_reads_what_was_given():
    from snakemake.cli import parse_config

    words = assignments(overrides.read(["npf.nu.rate=0.0000001", "npf.nu.loss=null"]))
    given = completed(parse_config(words), "config")["npf"]["nu"]
    assert (given["rate"], given["loss"]) == (1e-7, None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("x", "--config x: it has no value; write KEY=VALUE, such as"),
        ("npf: {nu: 3}", "--config npf: {nu: 3}: it has no value; write KEY=VALUE"),
        ("=3", "'' is no name of a setting; write KEY=VALUE"),
        ("é=1", "'é' is no name of a setting; write KEY=VALUE"),
        ("x=1", "'x' is no name of a setting; write KEY=VALUE"),
        ("npf..nu=1", "'npf..nu' is no name of a setting; write KEY=VALUE"),
        ("npf.nü.runs=1", "'npf.nü.runs' is no name of a setting; write KEY=VALUE"),
        ("npf=[1,", "the value is not YAML (expected the node content, but found"),
        ("npf=&a [*a]", "the value is not YAML ("),
        ("npf={nu: {runs: 1, runs: 2}}", "runs is given twice; keep one KEY=VALUE"),
        ("device=cpu|device=cuda", "--config: device is given twice; keep one KEY=VALUE"),
        ("npf.nu.runs=1|npf={nu: {runs: 1}}", "--config: npf.nu.runs is given twice; keep one KEY"),
        ("npf.nu=1|npf.nu.runs=1", "--config: npf.nu is given twice; keep one KEY=VALUE"),
        (
            "preset=laptop",
            "--config preset=laptop, but --preset is smoke; write --preset laptop",
        ),
        ("seed=1", "--config seed=1, but --seed is 0; write --seed 1 instead"),
    ],
)
@pytest.mark.parametrize("command", ["run", "report"])
def test_other_words_are_refused_before_snakemake_starts(
    command, given, message, monkeypatch, capsys
):
    monkeypatch.setattr(running, "snakemake", lambda words: pytest.fail("Snakemake was started"))
    assert main([command, "--preset", "smoke", "--config", *given.split("|")]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_options_may_be_repeated_and_images_are_a_setting(tmp_path):
    for split in ("train", "test"):
        (tmp_path / "my" / split).mkdir(parents=True)
    results = Results(preset="smoke", seed=2, images=tmp_path / "my")
    given = ["preset=smoke", "seed=2", "data.mnist=digits"]
    images = f"data={{mnist: digits, images: {tmp_path}/my}}"
    assert running.settings(results, given) == [images]
    with pytest.raises(ConfigError, match=r"data\.images is given twice"):
        running.settings(results, ["data.images=other"])
