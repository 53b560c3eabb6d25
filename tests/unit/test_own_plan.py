"""The jobs of a user's network: absent without one, told its content, marked as the user's."""

import re
from pathlib import Path

import pytest

from finitewidth.cli import network
from finitewidth.cli.main import main
from finitewidth.cli.project import checked_targets
from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import merged, preset_only
from finitewidth.pipeline.packages import Packages
from finitewidth.pipeline.plan import Plan

ROOT = Path(__file__).parents[2]
FIGURES = ["own_extra_dispersion", "own_extra_training", "own_extra_gates"]


def plan(**own):
    config = preset_only("smoke", ROOT / "config")
    return Plan(merged(config, {"own": own}), ROOT)


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "net.yaml"
    made.write_text("kind: fully_connected\nwidths: [4]\n", encoding="utf-8")
    return made


def test_without_a_network_nothing_of_it_exists():
    assert not [job.name for job in plan().declared() if job.name.startswith("own")]
    assert "own" not in plan().captioned
    assert not plan().own


def test_with_one_the_papers_stay_as_they_are(file):
    before, after = plan(), plan(network=str(file))
    names = [job.name for job in before.declared()]
    assert [job.name for job in after.declared()][: len(names)] == names
    assert [job.name for job in after.declared()][len(names) :] == [
        "own_dispersion", "own_training", "own_gates", *FIGURES
    ]  # fmt: skip
    for name in names:
        assert after.params(name) == before.params(name)
        assert after.code(name) == before.code(name)
    for wanted in ("papers", "errata"):
        assert after.report_settings()[wanted] == before.report_settings()[wanted]
    assert after.verdicts() == before.verdicts()
    assert Packages(after, after.papers).described() == Packages(before, before.papers).described()
    assert Packages(after, after.papers).code() == Packages(before, before.papers).code()


def test_the_content_of_the_file_is_a_parameter_of_every_experiment(file):
    before = plan(network=str(file))
    old = {name: before.params(name) for name in ("own_dispersion", "own_training", "own_gates")}
    file.write_text("kind: fully_connected\nwidths: [5]\n", encoding="utf-8")
    for name, params in old.items():
        new = plan(network=str(file)).params(name)
        assert new["network"]["digest"] != params["network"]["digest"]
        assert {**new, "network": 0} == {**params, "network": 0}


def test_figures_are_marked_as_the_users(file):
    own = plan(network=str(file), data="warped_digits", dispersion={"draws": 7})
    for name in FIGURES:
        assert own.mark(name) == "your network: net.yaml · warped digits 8×8"
        count = "7 draws" if "dispersion" in name else "2 runs"
        assert own.footer(name) == (
            "your network: net.yaml (not of a paper) · preset smoke, modified · "
            f"warped digits 8×8 · {count}"
        )
    assert ", modified" not in plan(network=str(file)).footer(FIGURES[0])
    shown = [each for each in own.report_settings()["artifacts"] if each["paper"] == "own"]
    assert {(each["scale"], each["grade"]) for each in shown} == {("your network", "")}
    assert next(each["label"] for each in shown) == "Your network: dispersion"
    assert own.jobs["own_training"].inputs == {"data": "results/data/warped_digits.npz"}


def test_a_dataset_of_the_papers_is_what_stands_in_for_it(file):
    own = plan(network=str(file), data="mnist")
    assert own.jobs["own_training"].inputs == {"data": "results/data/digits.npz"}
    assert own.mark(FIGURES[0]).endswith("digits 8×8")


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"data": "digitss"}, "own.data: there is no dataset 'digitss'; did you mean 'digits'"),
        ({"network": "no.yaml"}, r"own.network: no.yaml cannot be opened"),
        ({"network": 3}, "own.network: 3 is refused"),
        ({"training": {"times": [1, 2]}}, "own.training.times: .* begin with 0"),
        ({"training": {"times": [0, 2, 1]}}, "own.training.times: .* must be ascending"),
        ({"training": {"maps": [2]}}, r"own.training.maps: \[2\] are not among"),
        ({"training": {"rate": -1.0}}, "own.training.rate"),
        ({"draws": 3}, "own.draws: unknown key"),
    ],
)
def test_settings_that_are_refused(own, message, file):
    with pytest.raises(ConfigError, match=message):
        plan(**{"network": str(file), **own})


def test_targets_of_a_network_need_one(monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(ConfigError, match=r"'own' needs a network of yours: finitewidth network"):
        checked_targets(["own"])
    given = ["own={network: net.yaml}"]
    assert checked_targets(["own", "own_extra_gates", "npf"], given) == [
        "own", "own_extra_gates", "npf"
    ]  # fmt: skip


def test_the_command_keeps_other_settings_of_the_user():
    given = ["npf={nu: {runs: 2}}", "own={training: {rate: 0.1}, data: digits}"]
    assert network.overrides(given, Path("/nets/net.py:make"), None) == [
        given[0], "own={data: digits, network: '/nets/net.py:make', training: {rate: 0.1}}"
    ]  # fmt: skip


def test_a_file_in_the_project_is_named_relative_to_it(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = network.overrides([], ROOT / "nets/net.yaml", "mnist")
    assert found == ["own={data: mnist, network: nets/net.yaml}"]


def test_the_command_makes_the_figures_and_then_the_report(file, monkeypatch, capsys):
    words = []
    monkeypatch.chdir(file.parent)
    monkeypatch.setattr("subprocess.run", lambda each, **_: words.append(each) or _Done())
    arguments = ["--project", str(ROOT), "network", "net.yaml", "--preset", "smoke", "--cores", "1"]
    assert main(arguments) == 0
    made, report = words
    assert made[2:7] == ["snakemake", "--cores", "1", "own", "captions_own"]
    assert made[-2:] == ["preset=smoke", f"own={{network: {file}}}"]
    assert report[-1] == made[-1]
    assert "report_now" in report
    assert "results/smoke/own/figures" in capsys.readouterr().out


class _Done:
    returncode = 0


def test_the_command_refuses_a_bad_file_before_it_starts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.yaml").write_text("kind: fully_connected\n", encoding="utf-8")
    assert main(["--project", str(ROOT), "network", "net.yaml"]) == 1
    assert "hidden and width is missing" in capsys.readouterr().err


FACTORY = """
from torch import nn

def make(input_shape, classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 5), {layer}, nn.Linear(5, {outputs}))
"""


@pytest.mark.parametrize(
    ("layer", "outputs", "message"),
    [
        ("nn.ReLU()", "9", r"own.network: net.py:make maps .* must be \(2, 10\)"),
        ("nn.BatchNorm1d(5, track_running_stats=False)", "classes",
         "own.network: net.py:make: network: module '2' .BatchNorm1d. is without running"),
    ],
)  # fmt: skip
def test_a_network_without_a_kernel_is_told_before_the_run(
    layer, outputs, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    text = FACTORY.format(layer=layer, outputs=outputs)
    (tmp_path / "net.py").write_text(text, encoding="utf-8")
    assert main(["--project", str(ROOT), "network", "net.py:make", "--preset", "smoke"]) == 1
    assert re.search(message, capsys.readouterr().err)
