"""The fault matrix: what a stage reads, or has written, is damaged."""

import html
import os
import re
import shutil

import pytest

from .matrix import BY_NAME, RESULTS, cells
from .reliability import said

pytestmark = [pytest.mark.faults, pytest.mark.workflow]


def truncate(file):
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def alter(file):
    """Change one byte, and neither size nor time."""
    content, times = bytearray(file.read_bytes()), file.stat()
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


@cells("Input damaged")
def test_a_damaged_input_is_named(cell, stage):
    name, makers = stage.inputs
    file = cell.checkout.path / name
    whole = file.read_bytes()
    truncate(file)
    run = cell.checkout.make(*stage.targets)
    cell.told(run.stdout)
    if stage.name == "report":  # shows the rest, and names the file in its place
        assert run.returncode == 0, run.stdout
        pages = cell.checkout.path / RESULTS / "report"
        message = said(rf"{file.name} [^\n]*\s*Delete this file and run [^\n<]*", text_of(pages))
    else:
        assert run.returncode != 0, run.stdout
        message = said(rf"[^\n]*{file.name}[^\n]*", run.stdout)
    if makers:
        assert "elete" in message
        file.unlink()
    else:
        file.write_bytes(whole)
    cell.expect_again(*makers)
    cell.times_differ = stage.name == "report"
    cell.survives(message, "the file", again=(*makers, stage.job))


# where the damaged output of a stage is looked at: before or after which stage
LATER = {"data": ("training", "before"), "figure": ("report", "before")}


@cells("Output damaged")
def test_a_damaged_output_is_named_by_its_reader(cell_at, chain, stage, tmp_path):
    of, state = LATER.get(stage.name, (stage.name, "after"))
    cell = cell_at(tmp_path / "project", BY_NAME[of], state)
    targets, readers = stage.reader
    file = cell.checkout.path / stage.output
    alter(file)
    listed = cell.checkout.make("verify")
    assert listed.returncode != 0, listed.stdout
    name = "report" if stage.name == "report" else file.name
    message = said(rf"[^\n]*{name} differs from what its job wrote[^\n]*", listed.stdout)
    assert "1 breaks of the chain" in listed.stdout
    maker = stage.maker or stage.job
    cell.expect_again(maker, *readers)
    for name in cell.checkout.made_by(*readers):  # so that they read again
        (cell.checkout.path / "results" / name).unlink(missing_ok=True)
    if readers:
        read = cell.checkout.make(*targets)
        cell.told(read.stdout)
        assert read.returncode != 0, read.stdout
        said(rf"{file.name} is damaged[^\n]*delete it and run again", read.stdout)
    cell.times_differ = stage.name == "report"
    remove(file)
    cell.survives_reading(targets, message, (maker, *readers))


def remove(file):
    """What the message advises; of a report, all of it."""
    folder = next((each for each in file.parents if each.name == "report"), None)
    if folder is None:
        file.unlink()
    else:
        shutil.rmtree(folder)


def text_of(report):
    """The text of all pages of a report, a line for each element that holds text."""
    pages = (page.read_text(encoding="utf-8") for page in sorted(report.rglob("*.html")))
    lines = "\n".join(re.sub(r"</?(?:code|span|a|strong)\b[^>]*>", "", page) for page in pages)
    return html.unescape(lines)
