"""Commands of the tutorial and the how-to pages work in a new clone, and print what is shown."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.helpers.documented_commands import blocks, called
from tests.helpers.project import ROOT
from tests.helpers.workflow_checkout import Checkout

pytestmark = [pytest.mark.full, pytest.mark.workflow]
TUTORIAL = ROOT / "docs/tutorial.md"
PAGES = sorted((ROOT / "docs/howto").glob("*.md"))
TIME = re.compile(r"about \d.*? left|\d[\d.]* (?:s|min|h)\b(?: \d+ (?:s|min)\b)?")
# what a reader has not made yet
NO_RESULTS = re.compile("has no (results|verdicts|run yet)|neither a folder|does not describe")


def pattern(shown: str) -> str:
    """What an output matches that reads as shown, but for times; ... stands for any words."""
    words = TIME.sub("(time)", shown).split()
    return r"\s+".join(".*" if word == "..." else re.escape(word) for word in words)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A new clone."""
    checkout = Checkout(tmp_path_factory.mktemp("documented") / "finitewidth")
    shutil.copy(ROOT / "pyproject.toml", checkout.path)
    return checkout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A clone with the results of this one, if any, and with pictures and a network of the user."""
    checkout = Checkout(tmp_path_factory.mktemp("made") / "finitewidth")
    shutil.copytree(ROOT / "results", checkout.path / "results")
    stream = np.random.default_rng(0)
    for tree in ("pictures/shapes", "few", "home/pictures/shapes"):
        for split, label, number in np.ndindex(2, 8, 25):
            file = Path(checkout.path, tree, ("train", "test")[split], f"class{label}/{number}.png")
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(stream.integers(0, 256, (16, 16), np.uint8)).save(file)
    (code,) = (
        text for text in blocks(ROOT / "docs/howto/own_network.md", "python") if "def make(" in text
    )
    (checkout.path / "my_net.py").write_text(code, encoding="utf-8")
    return checkout


def test_the_tutorial_prints_what_it_shows(clone):
    for block in blocks(TUTORIAL, "console"):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            answer = called(clone, command)
            assert answer.returncode == 0, answer.stdout
            printed = TIME.sub("(time)", answer.stdout).strip()
            assert re.fullmatch(pattern(shown), printed, re.S), f"{command}\n{answer.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_work(page, made):
    """Runs are only planned; a command may say that there are no results."""
    for block in blocks(page, "bash"):
        for line in filter(None, (line.partition(" # ")[0].strip() for line in block.splitlines())):
            if "--data mnist" in line:  # may have to be downloaded
                continue
            line = line.replace(" --dry-run", "")
            planned = re.sub(r"(finitewidth (?:run|kernel)\b)", r"\1 --dry-run", line)
            answer = called(made, planned)
            refused = answer.returncode == 1 and NO_RESULTS.search(answer.stdout)
            assert answer.returncode == 0 or refused, f"{planned}\n{answer.stdout}"
