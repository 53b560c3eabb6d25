"""Links in the results that lead elsewhere: what deletes there leaves their targets alone."""

import json
import os

import pytest

from finitewidth.common import result_files
from finitewidth.pipeline.recorded import clear_finished

IDENTITY = "0123456789abcdef"


@pytest.fixture
def outside(tmp_path):
    """A folder of the user, whose files look like ours."""
    folder = tmp_path / "outside"
    (folder / IDENTITY).mkdir(parents=True)
    for name in ("000000000001.pt", "000000000002.pt", "notes.txt", "a.csv"):
        (folder / name).write_text("mine")
        (folder / IDENTITY / name).write_text("mine")
    yield folder
    for place in (folder, folder / IDENTITY):
        for name in ("000000000001.pt", "000000000002.pt", "notes.txt", "a.csv"):
            assert (place / name).read_text() == "mine", f"{place / name} was touched"


@pytest.mark.parametrize("linked", ["all", "one"])
def test_checkpoints_of_finished_jobs(tmp_path, outside, linked):
    results = tmp_path / "results"
    stamp = results / "npf/training/nu/provenance.json"
    result_files.write_text(stamp, json.dumps({"fingerprint": IDENTITY}))
    if linked == "all":
        (results / ".checkpoints").symlink_to(outside)
    else:
        (results / ".checkpoints").mkdir()
        (results / ".checkpoints" / IDENTITY).symlink_to(outside)
    clear_finished(results)


def test_temporary_files_that_are_links(tmp_path, outside):
    link = tmp_path / ".a-new.csv"
    link.symlink_to(outside / "a.csv")
    result_files.write_text(tmp_path / "a.csv", "new")
    assert not os.path.lexists(link)
