"""Disks and folders that cannot be written to, and losses that are not finite."""

import csv
import os
import shutil
import subprocess

import pytest

from .conftest import FINISHED
from .reliability import said

pytestmark = [pytest.mark.faults, pytest.mark.full, pytest.mark.workflow]
NU = ("npf={nu: {step_size: 1000.0, optimiser: sgd}}", "checkpoint_seconds=0.02")


@pytest.fixture
def small_disk(case):
    """The results of the checkout on a disk of 2 MB; skipped if it cannot be mounted."""
    results, aside = case.checkout.path / "results", case.checkout.path / "aside"
    results.rename(aside)
    results.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(results)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can be mounted by root only, and not in every container")
    shutil.copytree(aside, results, dirs_exist_ok=True)
    yield results
    subprocess.run(["umount", "--lazy", str(results)], check=True)


@pytest.mark.case("Disk full")
@pytest.mark.parametrize("left", [0, 12_000], ids=["no byte left", "some bytes left"])
def test_a_full_disk_is_reported_and_the_run_continues_with_free_space(case, small_disk, left):
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(b"0" * 4096)
        except OSError:
            stream.truncate(stream.tell() - left)
    refused = case.checkout.finish()
    assert refused.returncode != 0
    message = said(r"cannot write [^\n]*: the disk is full[^\n]*", refused.stdout)
    assert "Traceback" not in refused.stdout
    filler.unlink()
    case.survives(message)


@pytest.mark.case("Results folder read-only")
def test_a_read_only_folder_is_reported_and_the_run_continues_when_writable(case, small_disk):
    again = ["mount", "-o", "remount,{}", str(small_disk)]
    subprocess.run([part.format("ro") for part in again], check=True)
    refused = case.checkout.finish()
    assert refused.returncode != 0
    message = said("cannot write in the folder [^\n]*", refused.stdout)
    assert "make it writable" in message
    assert "Traceback" not in refused.stdout
    subprocess.run([part.format("rw") for part in again], check=True)
    case.survives(message)


@pytest.mark.case("Step size for which the loss becomes NaN")
def test_a_diverging_training_is_recorded_and_the_run_continues(case):
    done = case.checkout.run(FINISHED[1], *NU, cores=1)
    assert done.returncode == 0, done.stdout
    history = case.checkout.path / "results/smoke/npf/training/nu/history.csv"
    with history.open() as stream:
        assert {"1"} == {row["diverged"] for row in csv.DictReader(stream) if row["epoch"] == "4"}
    assert case.checkout.planned(FINISHED[1], *NU) == {}
    log = case.checkout.path / "results/smoke/logs/npf/training/nu.log"
    case.publish(
        said(r"epoch \d+: loss is not finite; \d+ of \d+ [^,]*", log.read_text()), "nothing"
    )
