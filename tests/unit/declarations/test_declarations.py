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
        "experiments": {"toy_theory": {"settings": "theory", "makes": ["curves"]}},
        "artifacts": {"toy_fig1": {"title": "Curves", "of": ["toy_theory.curves"]}},
    }
    (folder / "toy.yaml").write_text(yaml.safe_dump({**paper, **changes}), encoding="utf-8")
    return folder


FIGURE = {"title": "Curves", "of": ["toy_theory.curves"]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"paper": "other"}, "paper is 'other'; it must be 'toy'"),
        ({"rules": []}, "unknown key rules"),
        ({"artifacts": {"toy_plot1": FIGURE}}, "'toy_plot1' is not a name of an artifact"),
        ({"artifacts": {"npf_fig1": FIGURE}}, "'npf_fig1' is not a name of an artifact"),
        ({"artifacts": {"toy_fig01": FIGURE}}, "'toy_fig01' is not a name of an artifact"),
        ({"artifacts": {"toy_extra_more": FIGURE}}, "toy_extra_more: kind: .*'figure' or 'table'"),
        ({"artifacts": {"toy_fig1": {**FIGURE, "caption": 1}}}, "toy_fig1: unknown key caption"),
        (
            {"artifacts": {"toy_fig1": {**FIGURE, "of": ["toy_theory.limits"]}}},
            "'toy_theory.limits' is read, but no experiment makes it",
        ),
        ({"artifacts": {"toy_fig1": {**FIGURE, "of": ["curves"]}}}, "'curves' is not a reference"),
        (
            {"artifacts": {"toy_fig1": {**FIGURE, "of": {"rows": "toy_law_*.rows"}}}},
            "'toy_law_\\*.rows' is read, but no experiment makes it",
        ),
        ({"artifacts": {"toy_fig1": {**FIGURE, "tell": ["weather"]}}}, "tell.0: .*'device'"),
        ({"experiments": {"npf_theory": {"makes": ["a"]}}}, "'npf_theory' is not a name of an exp"),
    ],
)
def test_a_wrong_declaration_is_named(tmp_path, changes, message):
    with pytest.raises(ConfigError, match=message):
        read_papers(declared(tmp_path, **changes))


def test_a_folder_without_papers_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="declares no paper"):
        read_papers(tmp_path)


def test_chosen_settings():
    section = {"task": {"samples": 3, "mu": 0.5}, "runs": 4, "name": "task"}
    assert chosen(section, None) == {}
    assert chosen(section, "task") == section["task"]
    assert chosen(section, {"task": ["mu"], "runs": "runs"}) == {"mu": 0.5, "runs": 4}
    assert chosen(section, {"found": "{name}.samples"}) == {"found": 3}
    assert chosen(section, {"inner": {"a": "runs"}}) == {"inner": {"a": 4}}
    with pytest.raises(ConfigError, match=r"no setting 'task\.size'"):
        chosen(section, {"task": ["size"]})
