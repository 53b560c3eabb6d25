"""The papers' declarations are complete, and every mistake in one is named with its file."""

from collections import Counter

import pytest
import yaml
from tests.helpers.project import ROOT

from finitewidth.common.errors import ConfigError
from finitewidth.declarations.papers import artifacts_of, read_papers
from finitewidth.pipeline.jobs import chosen

PAPERS = read_papers(ROOT / "workflow/papers")
OWN = [entry for entry in artifacts_of(PAPERS) if not entry.extra]


def test_there_are_eighty_numbered_artifacts():
    assert Counter((entry.paper, entry.kind) for entry in OWN) == {
        ("npf", "table"): 5,
        ("npf", "figure"): 7,
        ("npf0", "table"): 2,
        ("npf0", "figure"): 3,
        ("dgn", "table"): 5,
        ("dgn", "figure"): 10,
        ("trust", "figure"): 11,
        ("thesis", "figure"): 5,
        ("beyond", "figure"): 11,
        ("collapse", "table"): 1,
        ("collapse", "figure"): 20,
    }
    assert len(OWN) == 80


def declared(folder, **changes):
    """Write a small paper; ``changes`` replace keys of the file."""
    paper = {
        "paper": "toy",
        "order": 1,
        "title": "A toy paper",
        "experiments": {"toy_theory": THEORY},
        "artifacts": {"toy_fig1": FIGURE},
    }
    (folder / "toy.yaml").write_text(
        yaml.safe_dump({**paper, **changes}, sort_keys=False), encoding="utf-8"
    )
    return folder


THEORY = {"stage": "theory", "params": "config.theory", "output": ["curves"]}
FIGURE = {"title": "Curves", "input": ["toy_theory.curves"]}
TRAINED = {"input": {"weights": "training/nu/weights"}}


def experiment(**changes):
    """The experiments of the small paper, with other keys of the only one."""
    return {"experiments": {"toy_theory": {**THEORY, **changes}}}


def figure(**changes):
    """The artifacts of the small paper, with other keys of the only one."""
    return {"artifacts": {"toy_fig1": {**FIGURE, **changes}}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"paper": "other"}, "paper is 'other'; it must be 'toy'"),
        ({"rules": []}, "unknown key rules"),
        ({"artifacts": {"toy_plot1": FIGURE}}, "'toy_plot1' is not a name of an artifact"),
        ({"artifacts": {"npf_fig1": FIGURE}}, "'npf_fig1' is not a name of an artifact"),
        ({"artifacts": {"toy_fig01": FIGURE}}, "'toy_fig01' is not a name of an artifact"),
        ({"artifacts": {"toy_extra_more": FIGURE}}, "toy_extra_more: kind: .*'figure' or 'table'"),
        (figure(caption=1), "toy_fig1: unknown key caption"),
        (
            figure(inputs=[]),
            r"unknown key inputs \(did you mean input\?\); known keys are .*params",
        ),
        (figure(input=["toy_theory.limits"]), "'toy_theory.limits' is read, but no experiment"),
        (figure(input=["curves"]), "'curves' is not a reference"),
        (figure(input={"rows": "toy_law_*.rows"}), "'toy_law_\\*.rows' is read, but no experiment"),
        (figure(facts=["weather"]), "facts.0: .*'comparable'"),
        (figure(params={"config.theory": "runs"}), "params: .*config.theory needs a list"),
        ({"experiments": {"npf_theory": THEORY}}, "'npf_theory' is not a name of an experiment"),
        ({"experiments": {"toy_theory": {"output": ["curves"]}}}, "the key stage is missing"),
        (experiment(stage="drawing"), "toy_theory: stage: .*'evaluation', not 'drawing'"),
        (experiment(**TRAINED), "stage is 'theory', but it reads 'training/nu/weights'"),
        (experiment(stage="evaluation"), "'evaluation', but no input comes from trained networks"),
        (experiment(gpu=True), "gpu: only an experiment of the stage 'training' can use a GPU"),
        (
            experiment(resumes=True),
            "resumes: an experiment of the stage 'theory' has no checkpoints",
        ),
        ({"experiments": {"toy_{law}": THEORY}}, "'toy_{law}': no wildcard has the words law"),
    ],
)
def test_a_wrong_declaration_is_named(tmp_path, changes, message):
    with pytest.raises(ConfigError, match=message):
        read_papers(declared(tmp_path, **changes))


def test_a_folder_without_papers_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="declares no paper"):
        read_papers(tmp_path)


def test_what_reads_a_table_of_trained_networks_is_an_evaluation(tmp_path):
    experiments = {
        "toy_nu": {"stage": "evaluation", "output": ["curves"], **TRAINED},
        "toy_rows": {"stage": "sampling", "input": {"curves": "toy_nu.curves"}},
    }
    with pytest.raises(ConfigError, match="toy_rows: stage is 'sampling', but it reads 'toy_nu"):
        read_papers(declared(tmp_path, experiments=experiments, artifacts={}))


def test_an_entry_with_a_wildcard_is_written_out_for_each_of_its_values(tmp_path):
    (paper,) = read_papers(
        declared(
            tmp_path,
            wildcards={"law": {"relu": {"number": "fig2"}, "tanh": {"number": "fig1"}, "erf": {}}},
            experiments={
                "toy_{law}": {**THEORY, "params": "config.laws.{law}"},
                "toy_erf": {"explains": True},
            },
            artifacts={"toy_{number}": {"title": "{law}", "input": ["toy_{law}.curves"]}},
        )
    )
    assert [(e.name, e.params, e.explains) for e in paper.experiments] == [
        ("toy_relu", "config.laws.relu", False),
        ("toy_tanh", "config.laws.tanh", False),
        ("toy_erf", "config.laws.erf", True),  # written out by name as well, with a key of its own
    ]
    assert [(a.artifact, a.title, a.input) for a in paper.artifacts] == [
        ("toy_fig1", "tanh", {"curves": "toy_tanh.curves"}),
        ("toy_fig2", "relu", {"curves": "toy_relu.curves"}),
    ]


INVARIANT = {
    "fig2": "resnet_mnist",
    "fig3": "vgg_mnist",
    "fig4": "vgg_fashion",
    "fig5": "vgg_cifar",
    "fig6": "resnet_mnist",
    "fig7": "resnet_fashion",
    "fig8": "resnet_cifar",
    "fig9": "densenet_mnist",
    "fig10": "densenet_fashion",
    "fig11": "densenet_cifar",
    "fig12": "resnet_mnist_ce",
}
BLOCKS = {
    "fig1": "resnet_mnist",
    "fig13": "vgg_mnist",
    "fig14": "vgg_fashion",
    "fig15": "vgg_cifar",
    "fig16": "resnet_fashion",
    "fig17": "resnet_cifar",
    "fig18": "densenet_mnist",
    "fig19": "densenet_fashion",
    "fig20": "densenet_cifar",
}


def test_the_pairs_of_collapse_and_their_figures():
    (collapse,) = (paper for paper in PAPERS if paper.name == "collapse")
    names = {experiment.name for experiment in collapse.experiments}
    for pair in {*INVARIANT.values(), *BLOCKS.values()}:
        assert {f"collapse_training_{pair}", f"collapse_models_{pair}"} <= names
    for renderer, figures in (("invariant", INVARIANT), ("blocks", BLOCKS)):
        drawn = [a for a in collapse.artifacts if a.module.endswith(f".{renderer}")]
        assert {a.artifact for a in drawn} == {f"collapse_{figure}" for figure in figures}
        for artifact in drawn:
            pair = figures[artifact.artifact.removeprefix("collapse_")]
            jobs = {table.split(".")[0] for table in artifact.input.values()}
            assert jobs - {"reported/collapse"} == {f"collapse_models_{pair}"}


@pytest.mark.parametrize("folder", ["workflow", "config", "profiles"])
def test_no_line_of_yaml_is_long(folder):
    for file in sorted((ROOT / folder).rglob("*.yaml")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            assert len(line) <= 100, f"{file.name}, line {number}"


def test_chosen_settings():
    section = {"task": {"samples": 3, "mu": 0.5}, "runs": 4, "name": "task"}
    assert chosen(section, {}) == {}
    assert chosen(section, "config.task") == section["task"]
    assert chosen(section, {"config.task": ["mu"], "n": "config.runs"}) == {"mu": 0.5, "n": 4}
    assert chosen(section, {"n": "config.{name}.samples"}) == {"n": 3}
    assert chosen(section, {"inner": {"a": "config.runs"}}) == {"inner": {"a": 4}}
    assert chosen(section, {"unit": "percent", "at": ["task"]}) == {
        "unit": "percent",
        "at": ["task"],
    }
    with pytest.raises(ConfigError, match=r"no setting 'task\.size'"):
        chosen(section, {"config.task": ["size"]})
