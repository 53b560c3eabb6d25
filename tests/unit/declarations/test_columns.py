"""Columns of tables: each is defined once, with a meaning that a reader can use."""

from importlib import import_module

from tests.helpers.project import ROOT

from finitewidth.declarations.papers import read_papers
from finitewidth.records.code import column_modules
from finitewidth.records.tables import Column

PAPERS = [paper.name for paper in read_papers(ROOT / "workflow/papers")]
MODULES = [*column_modules(PAPERS), "finitewidth.claims.columns"]
COLUMNS = {
    f"{module}.{name}": column
    for module in MODULES
    for name, column in vars(import_module(module)).items()
    if isinstance(column, Column)
}


def test_a_column_is_defined_once():
    first: dict[Column, tuple[str, Column]] = {}
    for name, column in COLUMNS.items():
        earlier_name, earlier = first.setdefault(column, (name, column))
        assert earlier is column, f"{name} is {earlier_name}; define it once"


def test_a_meaning_is_a_phrase_without_a_full_stop():
    for name, column in COLUMNS.items():
        for phrase in (column.meaning, column.missing):
            assert phrase == phrase.strip(), name
            assert not phrase.endswith("."), name
        assert len(column.meaning.split()) >= 2, name
