"""One figure in unusual environments: user, home, language, limits, links, mounts, paths."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from PIL import Image

from .environments import NOBODY, TARGET, Figure, can, finished, give_away
from .reliability import said

pytestmark = [pytest.mark.faults, pytest.mark.workflow]
full = pytest.mark.full
NOTHING = "Nothing to be done"


@pytest.fixture(scope="session")
def code(tmp_path_factory) -> Figure:
    """A checkout without results."""
    return Figure(tmp_path_factory.mktemp("environments") / "code")


@pytest.fixture(scope="session")
def usual(code) -> Figure:
    """A checkout with the figure, made as usual. Leave it as you find it."""
    checkout = Figure(code.path.parent / "usual", code.path)
    done = checkout.make()
    assert done.returncode == 0, done.stdout
    return checkout


@pytest.fixture
def project(code, tmp_path) -> Figure:
    """A checkout of its own, without results."""
    return Figure(tmp_path / "project", code.path)


@pytest.fixture
def with_results(usual, tmp_path) -> Figure:
    """A checkout of its own, with the figure."""
    return Figure(tmp_path / "project", usual.path)


@pytest.fixture
def publish(request):
    """A function that publishes a message, and what was lost."""

    def publish(message: str = "none", lost: str = "nothing") -> None:
        request.node.user_properties.append(("reliability", [message, lost]))

    return publish


def check_as_usual(project: Figure, usual: Figure, **how) -> None:
    """Make the figure twice: the first time with the usual bytes, then there is nothing to do."""
    done = project.make(**how)
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout
    assert project.made() == usual.made()
    again = project.make(**how)
    assert again.returncode == 0, again.stdout
    assert NOTHING in again.stdout


def refused(done: subprocess.CompletedProcess, pattern: str) -> str:
    """Check that a run was refused with a message and without a traceback; returns the message."""
    assert done.returncode != 0
    assert "Traceback" not in done.stdout, done.stdout
    assert '  File "' not in done.stdout, done.stdout
    return said(pattern, done.stdout)


# --- user, home, language, time -----------------------------------------------------------------


# the variables that a machine with nothing set up lacks, all at once, for the short version
BARE = {"HOME": None, "USER": None, "LOGNAME": None, "LANG": "C", "LC_ALL": "C",
        "TZ": "Pacific/Kiritimati", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}  # fmt: skip


@pytest.mark.case("HOME unset, LANG=C and another time zone")
def test_a_bare_environment(project, usual, publish):
    check_as_usual(project, usual, **BARE)
    publish()


@full
@pytest.mark.case("HOME not there, or not writable")
@pytest.mark.parametrize("home", ["/proc/none", "/proc"])
def test_a_home_that_cannot_be_written(project, usual, publish, home):
    check_as_usual(project, usual, HOME=home, XDG_CACHE_HOME=None)
    publish("none: copies of source files lie in TMPDIR")


@full
@pytest.mark.case("Other time zones")
@pytest.mark.parametrize("zone", ["America/St_Johns", "Asia/Kathmandu", ":no such zone"])
def test_time_zones(project, usual, publish, zone):
    check_as_usual(project, usual, TZ=zone)
    publish()


@full
@pytest.mark.case("umask 077")
def test_a_strict_umask(project, usual, publish):
    check_as_usual(project, usual, shell="umask 077")
    for file in (project.path / "results/smoke").rglob("*"):
        assert os.access(file, os.R_OK)
        assert file.stat().st_mode & 0o700 >= (0o700 if file.is_dir() else 0o600)
    assert project.make().returncode == 0
    publish()


@full
@pytest.mark.case("No network")
def test_no_network(project, usual, publish):
    if not can("unshare", "-n", "true"):
        pytest.skip("unshare -n needs root")
    check_as_usual(project, usual, wrapper=("unshare", "-n"))
    publish()


# --- files of others ----------------------------------------------------------------------------


@full
@pytest.mark.case("Project, results, logs or records of another user")
@pytest.mark.parametrize(
    ("part", "where"),
    [
        ("", r"cannot write in the folder \S+"),
        ("results", r"cannot (write|read) \S+"),
        ("results/smoke/thesis/figures", r"cannot write \S*figures"),
        ("results/smoke/logs/thesis", r"cannot write \S*logs/thesis"),
        (".snakemake/finitewidth.lock", r"cannot write \S*finitewidth\.lock"),
    ],
)
def test_files_of_another_user(with_results, usual, publish, part, where):
    place = with_results.path / part
    wrapper = give_away(place)
    refusal = refused(with_results.make(wrapper=wrapper), rf"{where}[^\n]*")
    assert "make it writable" in refusal
    if os.geteuid() == 0:  # the owner's right is enough
        for file in [place, *place.rglob("*")]:
            os.chown(file, 0, 0, follow_symlinks=False)
        assert NOTHING in with_results.make(wrapper=wrapper).stdout
    assert with_results.made() == usual.made()
    publish(re.sub(r"/\S*/pytest-\S*/", "", refusal))


@full
@pytest.mark.case("Dry run of a project of another user")
def test_a_dry_run_of_files_of_another_user(with_results, publish):
    wrapper = give_away(with_results.path)
    publish(refused(with_results.make("--dry-run", wrapper=wrapper), r"cannot write in[^\n]*"))


# --- places -------------------------------------------------------------------------------------


@full
@pytest.mark.case("Results folder is a link to another disk")
@pytest.mark.parametrize("linked", ["results", "results/smoke"])
def test_a_linked_results_folder(project, usual, tmp_path, publish, linked):
    elsewhere, link = tmp_path / "elsewhere", project.path / linked
    elsewhere.mkdir()
    (elsewhere / "notes.txt").write_text("mine")
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(elsewhere)
    done = project.make()
    assert done.returncode == 0, done.stdout
    made = project.made()
    made.pop("notes.txt", None)
    assert made == usual.made()
    assert NOTHING in project.make().stdout
    assert project.call("report").returncode == 0
    assert link.is_symlink()
    assert (elsewhere / "notes.txt").read_text() == "mine"
    publish()


@full
@pytest.mark.case("Links in the results that lead to files of the user")
def test_what_links_lead_to_is_left_alone(with_results, usual, tmp_path, publish):
    outside, results = tmp_path / "outside", with_results.path / "results/smoke"
    figure = "thesis/figures/thesis_fig2_4"
    linked = [f"{figure}.png", f"{figure}.csv", "thesis/figures/.sums/thesis_fig2_4.pdf.sha256",
              "report", ".checkpoints", "logs/thesis/thesis_fig2_4.log", "logs/run.json",
              "provenance/thesis/thesis_fig2_4.json"]  # fmt: skip
    for name in linked:
        mine = outside / name
        mine.parent.mkdir(parents=True, exist_ok=True)
        if "." in mine.name[1:]:
            mine.write_text("mine")
        else:
            mine.mkdir()
            (mine / "notes.txt").write_text("mine")
        (results / name).unlink(missing_ok=True)
        (results / name).symlink_to(mine)
    done = with_results.make("--force")
    assert done.returncode == 0, done.stdout
    assert with_results.call("report").returncode == 0
    assert {file.read_text() for file in outside.rglob("*") if file.is_file()} == {"mine"}
    assert len([file for file in outside.rglob("*") if file.is_file()]) == len(linked)
    assert with_results.made() == usual.made()
    publish("none: the links are replaced by files")


@pytest.mark.case("Results folder is a link that leads nowhere, or a file")
@pytest.mark.parametrize("what", ["link", pytest.param("file", marks=full)])
def test_no_folder_in_place_of_the_results(project, publish, what):
    place = project.path / "results"
    shutil.rmtree(place, ignore_errors=True)
    if what == "link":
        place.symlink_to("unmounted")
        publish(refused(project.make(), r"results is a link to unmounted[^\n]*remove the link"))
    else:
        place.touch()
        publish(refused(project.make(), r"results is no folder[^\n]*"))
    assert os.path.lexists(place)


PATHS = ["with spaces/quo'te/ünïcode-名", 'dou"ble/-dash/~', "new\nline/%s %d",
         "$HOME `id` $(id)/back\\slash", "[a]*?/a;b|c&d<e>#f"]  # fmt: skip


@full
@pytest.mark.case("Project path with spaces, quotes, unicode, line breaks, signs of a shell")
@pytest.mark.parametrize("name", PATHS)
def test_any_path(code, usual, tmp_path, publish, name):
    (tmp_path / name).mkdir(parents=True)
    project = Figure(tmp_path / name / "project", code.path)
    check_as_usual(project, usual, LANG="C", LC_ALL="C")
    report = project.call("report")
    assert report.returncode == 0, report.stdout
    publish()


@pytest.mark.case("Project path with braces")
def test_braces_in_the_path(code, tmp_path, publish):
    project = Figure(tmp_path / "a{b}c", code.path)
    message = refused(project.make(), r"the project lies in[^\n]*")
    assert str(project.path) in message or "a{b}c" in message
    publish(re.sub(r"/\S*/pytest-\S*/", "", message))


@contextlib.contextmanager
def mounted(place: Path, *options: str):
    """Mount something at a place, or skip the test."""
    place.mkdir(exist_ok=True)
    if os.geteuid() or not can("mount", *options, str(place)):
        pytest.skip("only root can mount, and not in every container")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@full
@pytest.mark.case("Project on a disk mounted noexec")
def test_noexec(code, usual, tmp_path, publish):
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "noexec,size=200m", "tmpfs"):
        check_as_usual(Figure(tmp_path / "disk/project", code.path), usual,
                       TMPDIR=str(tmp_path / "disk"))  # fmt: skip
    publish()


@full
@pytest.mark.case("Project on a disk mounted read-only")
@pytest.mark.parametrize("results", [True, False], ids=["results", "no results"])
def test_read_only(code, usual, tmp_path, publish, results):
    place, source = tmp_path / "disk", usual if results else code
    with mounted(place, "--bind", str(source.path)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(place)], check=True)
        project = object.__new__(Figure)
        project.path = place
        message = refused(project.make(), r"cannot write in the folder [^\n]*")
        refused(project.make("--dry-run"), r"cannot write in the folder [^\n]*")
        for words in (("report",), ("verify",)):
            refused(project.call(*words), r"cannot write [^\n]*")
        assert TARGET in project.call("list").stdout
    publish(re.sub(r"/\S*/pytest-\S*/", "", message))


# --- limits -------------------------------------------------------------------------------------


@full
@pytest.mark.case("Few open files allowed (ulimit -n 64)")
def test_few_open_files(project, usual, publish):
    check_as_usual(project, usual, shell="ulimit -n 64")
    assert project.call("report").returncode == 0
    publish()


@full
@pytest.mark.case("Too few open files allowed (ulimit -n 20)")
def test_too_few_open_files(project, publish):
    publish(refused(project.make(shell="ulimit -n 20"), r"this shell allows[^\n]*"))


@full
@pytest.mark.case("Too few processes allowed (ulimit -u)")
@pytest.mark.parametrize("number", [3, 40])
def test_few_processes(project, usual, publish, number):
    # the interpreter may lie where only root can read
    reading = ("--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search")
    nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *reading)
    if os.geteuid() or not can(*nobody, "env", sys.executable, "-c", "import snakemake"):
        pytest.skip("only root can be another user")
    give_away(project.path)
    for folder in (project.path, *project.path.parents):
        if folder == Path(tempfile.gettempdir()):
            break
        folder.chmod(0o755)
    how = {"wrapper": (*nobody, "prlimit", f"--nproc={number}"), "HOME": None}
    if number < 10:
        publish(refused(project.make(**how), r"\d threads cannot be started[^\n]*"))
        return
    check_as_usual(project, usual, **how)
    publish("none, if they suffice")


# --- several at once ----------------------------------------------------------------------------


@full
@pytest.mark.case("Two runs of other presets or base seeds at once in one folder")
def test_two_base_seeds_at_once(project, usual, publish):
    # one after the other and overlapping: the one that ends leaves the locks of the other alone
    first = project.begin()
    second = project.begin(settings=("seed=1",))
    both = [finished(first), finished(second)]
    assert [done.returncode for done in both] == [0, 0], [done.stdout for done in both]
    assert project.made() == usual.made()
    other = project.made("results/smoke-seed1")
    assert other.keys() == usual.made().keys()
    for settings in ((), ("seed=1",)):
        assert NOTHING in project.make(settings=settings).stdout
    publish()


def wait_for(found, process: subprocess.Popen) -> None:
    """Wait until a condition holds while a process lives."""
    end = time.monotonic() + 120
    while not found():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end
        time.sleep(0.02)


@full
@pytest.mark.case("A run ends, of another preset or base seed, while one is at work")
def test_a_run_that_ends_keeps_the_locks_of_the_other(with_results, publish):
    locks = with_results.path / ".snakemake/locks"
    slow = with_results.begin(settings=("seed=1",))
    wait_for(lambda: len(list(locks.glob("*.lock"))) == 2, slow)
    os.killpg(slow.pid, signal.SIGSTOP)
    held = sorted(file.read_bytes() for file in locks.iterdir())
    assert NOTHING in with_results.make().stdout
    assert sorted(file.read_bytes() for file in locks.iterdir()) == held
    third = with_results.make(settings=("seed=1",))
    os.killpg(slow.pid, signal.SIGCONT)
    message = refused(third, r"Directory cannot be locked[^\n]*")
    assert finished(slow).returncode == 0
    assert not list(locks.glob("*.lock"))
    publish(message)


@full
@pytest.mark.case("Two reports at once in one folder")
def test_two_reports_at_once(with_results, publish):
    both = [with_results.call_soon("report") for _ in range(2)]
    for process in both:
        done = finished(process)
        assert done.returncode == 0, done.stdout
    results = with_results.path / "results/smoke"
    assert (results / "report/index.html").is_file()
    assert not list(results.glob(".finitewidth-*"))
    assert with_results.call("report").returncode == 0
    publish()


@full
@pytest.mark.case("A report while a run is at work")
def test_a_report_beside_a_run(project, usual, publish):
    run = project.begin()
    state = project.path / "results/smoke/logs/run.json"
    wait_for(state.is_file, run)
    report = project.call("report")
    assert report.returncode == 0, report.stdout
    told = project.call("status").stdout
    assert "report_now" not in told
    assert finished(run).returncode == 0
    assert project.made() == usual.made()
    assert "2 of 2 jobs done" in project.call("status").stdout
    assert NOTHING in project.make().stdout
    publish()


@full
@pytest.mark.case("Two clones share a data folder and use it at once")
def test_two_clones_share_a_data_folder(code, tmp_path, publish):
    data = tmp_path / "data"
    for number in range(12):
        file = data / "shapes" / ("train" if number < 8 else "test") / "ab"[number % 2]
        file.mkdir(parents=True, exist_ok=True)
        Image.new("L", (8, 8), 20 * number).save(file / f"{number}.png")
    (data / "notes.txt").write_text("mine")
    before = {file: file.read_bytes() for file in data.rglob("*") if file.is_file()}
    clones = [Figure(tmp_path / name, code.path) for name in ("one", "other")]
    words = ("results/data/shapes.npz", "data={imagefolder: {shapes: shapes}}")
    both = [
        clone._started(clone.command(*words, cores=1), "", {"FINITEWIDTH_DATA": str(data)})
        for clone in clones
    ]
    for process in both:
        done = finished(process)
        assert done.returncode == 0, done.stdout
    one, other = ((clone.path / words[0]).read_bytes() for clone in clones)
    assert one == other
    assert {file: file.read_bytes() for file in data.rglob("*") if file.is_file()} == before
    publish()
