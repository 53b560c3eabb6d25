"""The documentation builds without warnings, its links lead somewhere, and its words are true."""

import os
import re
import shlex
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from tests.helpers import report_crawler
from tests.helpers.project import ROOT

import finitewidth as fw
from finitewidth.cli.main import RAISES, app

sys.path.insert(0, str(ROOT / "docs/_ext"))
SOURCES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "results/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/howto").glob("*.md")),
]
PRINTED = "a line that only this test prints"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of a copy of the sources; the examples print one line instead of running."""
    import shutil

    folder = tmp_path_factory.mktemp("documentation")
    for name in ("workflow/papers", "config", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("generated"))
    for name in ("CITATION.cff", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, folder / name)
    for script in (folder / "docs/examples").glob("*.py"):
        title = script.read_text(encoding="utf-8").splitlines()[0]
        script.write_text(f'{title}\n\nWords.\n"""\nprint("{PRINTED}")\n', encoding="utf-8")
    answer = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "html"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert answer.returncode == 0, answer.stderr
    return (folder / "html").resolve()


@pytest.fixture(scope="module")
def pages(site):
    """Address -> parsed page, without what the theme brings."""
    return {
        name: report_crawler.soup(file)
        for file in sorted(site.rglob("*.html"))
        if not (name := file.relative_to(site).as_posix()).startswith("_static/")
    }


def test_links_within_the_site_lead_somewhere_and_nothing_is_loaded_from_a_network(site):
    assert report_crawler.faults(site) == []


def test_every_public_name_is_documented_once(pages):
    ids = []
    for page in pages.values():
        for tag in page.find_all("dt", id=True):
            ids.append(tag["id"])
    for name in set(dir(fw)) - {"__version__"}:
        assert ids.count(f"finitewidth.{name}") == 1, name


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_sources_exist(source):
    text = re.sub(r"```.*?```|`[^`]*`", "", source.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path = target.partition("#")[0]
        if not path or urlsplit(path).scheme or path.startswith("/generated/"):
            continue
        assert (source.parent / path).exists(), target


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_in_sources_are_understood(source):
    text = source.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [
        line
        for block in re.findall(r"```(?:bash|console)\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
    ]
    lines += re.findall(r"`(finitewidth [a-z][^`]*)`", text)
    for line in lines:
        words = shlex.split(line.strip().removeprefix("$ "), comments=True)
        while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
            words = words[1:]
        if words[:1] != ["finitewidth"] or any("<" in word for word in words):
            continue
        app.parse_args(words[1:], **RAISES)
    assert "python -m finitewidth" not in text


LABELS = ["Claim", "Range tried", "What would refute it", "Known before"]


def test_each_finding_begins_with_claim_range_refutation_and_prior_work():
    text = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
    sections = re.split(r"^## (?=\d\. )", text, flags=re.MULTILINE)[1:]
    assert len(sections) == 4
    for section in sections:
        paragraphs = section.split("\n\n")[1:5]
        labels = [re.match(r"\*\*(.+?)\.\*\*", paragraph)[1] for paragraph in paragraphs]
        assert labels == LABELS, section[:60]


def test_tests_named_on_pages_exist():
    modules = {path: path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py")}
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for path in re.findall(r"`(tests/[\w/]+\.py)`", text):
            assert (ROOT / path) in modules, (page.name, path)
        for name in re.findall(r"`(test_\w+)`", text):
            assert any(f"def {name}(" in module for module in modules.values()), name
