"""Faults in real runs at preset smoke, and what a second start makes of them."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from tests.helpers.faulty_checkout import FIGURE, SETTINGS, TRAINING, Faulty, jobs_of

pytestmark = [pytest.mark.faults, pytest.mark.workflow]
PICTURE = "results/smoke/thesis/figures/thesis_fig2_4"
TABLE = "results/smoke/thesis/experiments/risk_drawn.csv"
DATASET = "results/data/digits.npz"
CHECKPOINT = r"\.checkpoints/.*\d{12}\.pt$"
SUBMIT = "#!/bin/sh\nsh $1 > $1.log 2>&1 &\necho $!\n"


def test_killed_while_it_writes(checkout):
    (checkout.path / TABLE).unlink()
    before = (checkout.path / f"{PICTURE}.png").read_bytes()
    held = checkout.hold(TABLE, path=r"risk_drawn\.csv$", script="experiment.py")
    held.signal(signal.SIGKILL)
    assert not (checkout.path / TABLE).exists()  # written beside, and not yet in its place
    assert any((checkout.path / ".snakemake/locks").iterdir())
    assert checkout.run("--unlock").returncode == 0
    done = checkout.make(TABLE)
    assert done.returncode == 0, done.stdout
    assert jobs_of(done.stdout) == ["thesis_risk"]
    assert (checkout.path / f"{PICTURE}.png").read_bytes() == before
    assert checkout.finitewidth("verify").returncode == 0


def test_killed_and_interrupted_in_a_training_it_resumes(checkout, undisturbed):
    def held(*settings, **options):
        return checkout.hold(
            TRAINING, *settings, path=CHECKPOINT, script="train.py", count=4, **options
        )

    held("npf={kvf: {epochs: 150, every: 50, step_size: 0.02}}").signal(signal.SIGKILL)
    shutil.rmtree(checkout.path / ".snakemake/locks")  # as --unlock does
    held().signal(signal.SIGKILL)
    assert "continuing after" not in checkout.log  # a checkpoint of other settings
    shutil.rmtree(checkout.path / ".snakemake/locks")
    again = held(by_finitewidth=True)
    said = again.signal(signal.SIGINT)
    assert again.process.returncode == 130
    assert "Traceback" not in said
    with pytest.raises(ProcessLookupError):
        os.killpg(again.process.pid, 0)  # no process of the run is left
    assert "continuing after" in checkout.log
    done = checkout.make(TRAINING)  # no lock is left
    assert done.returncode == 0, done.stdout
    assert "continuing after" in checkout.log
    assert jobs_of(done.stdout) == ["train"]
    assert checkout.results() == undisturbed
    # those of the other settings, which did not end
    assert len(list((checkout.path / "results/smoke/.checkpoints").iterdir())) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount small disks")
def test_the_disk_is_full(base, tmp_path, undisturbed):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o"]
    if subprocess.run([*mount, "size=1g", "tmpfs", disk], check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        checkout = Faulty(disk / "project", base.path)
        held = checkout.hold(TRAINING, path=CHECKPOINT, script="train.py", count=4)
        room = os.statvfs(disk)
        with (disk / "filling").open("wb") as stream:
            stream.write(bytes(1))
            os.posix_fallocate(stream.fileno(), 0, room.f_bavail * room.f_frsize - (1 << 14))
        said = held.go_on()
        assert held.process.returncode != 0
        assert "the disk is full; free some space and start again" in said
        (disk / "filling").unlink()
        done = checkout.make(TRAINING)
        assert done.returncode == 0, done.stdout
        assert "continuing after" in checkout.log
        assert checkout.results() == undisturbed
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def test_a_damaged_input(checkout):
    file = checkout.path / DATASET
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    refused = checkout.make(TRAINING)
    assert refused.returncode != 0
    assert "digits.npz was altered after its job had written it" in checkout.log
    assert "delete it and run again" in checkout.log
    assert "Traceback" not in refused.stdout


def test_an_altered_result_is_verified_by_name(checkout):
    for file, change in ((f"{PICTURE}.png", lambda b: b[:-40]), (TABLE, lambda b: b + b"\n")):
        path = checkout.path / file
        times = path.stat().st_atime_ns, path.stat().st_mtime_ns
        path.write_bytes(change(path.read_bytes()))
        os.utime(path, ns=times)  # Snakemake goes by the time
    shutil.copy2(checkout.path / TABLE, checkout.path / TABLE.replace("drawn", "copied"))
    written = {file: file.stat().st_mtime_ns for file in (checkout.path / "results").rglob("*")}
    said = checkout.finitewidth("verify")
    assert said.returncode == 1
    assert f"{PICTURE}.png: was altered after its job had written it; delete it" in said.stdout
    assert f"{TABLE}: was altered" in said.stdout
    assert "risk_copied.csv: no job of this run makes it" in said.stdout
    assert said.stdout.splitlines()[-1].endswith("3 problems")
    assert written == {
        file: file.stat().st_mtime_ns for file in (checkout.path / "results").rglob("*")
    }


def test_an_input_dated_in_the_future_and_a_path_with_a_space(base, tmp_path):
    checkout = Faulty(tmp_path / "my checkout", base.path)
    (checkout.path / ".venv").symlink_to(sys.prefix)
    (checkout.path / f"{PICTURE}.png").unlink()
    table = checkout.path / TABLE
    python = str(checkout.path / ".venv/bin/python")

    def made():
        return subprocess.run(
            [python, *checkout.command(FIGURE, *SETTINGS, cores=1)[1:]],
            cwd=checkout.path,
            env=checkout.environment() | {"FORK_SERVER": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    os.utime(table, (table.stat().st_atime, time.time() + 86400))
    done = made()
    assert done.returncode == 0, done.stdout
    assert (checkout.path / f"{PICTURE}.png").is_file()


def test_two_presets_one_after_the_other(checkout):
    before = checkout.results()
    done = checkout.run(FIGURE, "thesis={risk: {draws: 12}}", cores=1, preset="quick")
    assert done.returncode == 0, done.stdout
    assert checkout.results().items() >= before.items()


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv takes the rights of root away")
def test_no_write_permission(checkout):
    folder = checkout.path / "results/smoke/thesis/figures"
    (checkout.path / f"{PICTURE}.png").unlink()
    (checkout.path / "results/smoke/npf").mkdir(exist_ok=True)
    folder.chmod(0o555)
    words = checkout.command(FIGURE, cores=1)
    if os.geteuid() == 0:
        words = ["setpriv", "--inh-caps", "-all", "--bounding-set", "-dac_override", *words]
    said = subprocess.run(
        words,
        cwd=checkout.path,
        env=checkout.environment() | {"FORK_SERVER": ""},
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    folder.chmod(0o755)
    assert said.returncode != 0
    assert "ermission" in said.stdout


def test_a_job_on_a_cluster_of_one_node(checkout, undisturbed):
    (checkout.path / "submit.sh").write_text(SUBMIT)
    (checkout.path / "submit.sh").chmod(0o755)
    done = checkout.make(
        TRAINING,
        "--executor",
        "cluster-generic",
        "--cluster-generic-submit-cmd",
        str(checkout.path / "submit.sh"),
        "--jobs",
        "1",
        "--latency-wait",
        "30",
    )
    assert done.returncode == 0, done.stdout
    assert checkout.results() == undisturbed
