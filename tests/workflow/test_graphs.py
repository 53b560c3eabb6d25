"""The graphs of README and documentation are what the commands that they name print."""

import re
import sys

import pytest
from tests.helpers.project import ROOT

from finitewidth.cli.main import main

sys.path.insert(0, str(ROOT / "docs/_ext"))
from graphs import edges_of, svg

PAGES = ("README.md", "docs/workflow.md")
BLOCK = re.compile(r"```mermaid\n%% ([^\n]*)\n(.*?)```", re.S)
TARGETS = ("npf_fig3", "trust_fig1")


def graphs(page: str) -> dict[str, set[tuple[str, str]]]:
    """Command -> the edges of the graph that a page shows as its answer."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return {command: set(edges_of(graph)) for command, graph in BLOCK.findall(text)}


def edges_of_rulegraph(text: str) -> set[tuple[str, str]]:
    """The edges between rules that Snakemake prints, where nodes have numbers."""
    names = dict(re.findall(r"(id\d+)\[(\w+)\]", text))
    return {(names[start], names[end]) for start, end in re.findall(r"(id\d+) --> (id\d+)", text)}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_graphs_of_all_stages_and_of_two_figures(page):
    commands = {f"snakemake {name} --rulegraph mermaid-js" for name in TARGETS}
    assert set(graphs(page)) == {"finitewidth show", *commands}


@pytest.mark.parametrize("page", PAGES)
def test_the_graph_of_stages_is_what_the_command_prints(page, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["show"]) == 0
    printed = capsys.readouterr().out
    text = (ROOT / page).read_text(encoding="utf-8")
    assert f"```mermaid\n%% finitewidth show\n{printed}```" in text


@pytest.mark.workflow
@pytest.mark.usefixtures("fork_server")
@pytest.mark.parametrize("name", TARGETS)
def test_the_graph_of_a_figure_is_what_snakemake_prints(name, make_checkout):
    answer = make_checkout("graphs").run(name, "--rulegraph", "mermaid-js", preset="")
    assert answer.returncode == 0, answer.stdout
    edges = edges_of_rulegraph(answer.stdout)
    assert edges
    for page in PAGES:
        assert graphs(page)[f"snakemake {name} --rulegraph mermaid-js"] == edges


def test_a_graph_is_drawn_with_all_nodes_and_edges():
    drawn = svg("flowchart LR\n a --> b\n a --> c\n b --> c\n b --> b\n")
    assert re.findall(r"<text[^>]*>(\w+)</text>", drawn) == ["a", "b", "c"]
    assert drawn.count('class="fw-edge"') == 4
    assert 'aria-label="a to b; a to c; b to c; b to b"' in drawn


def test_a_line_that_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="'a ==> b' is no edge"):
        svg("flowchart LR\n a ==> b\n")
