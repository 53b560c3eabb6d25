"""A Slurm cluster of one node on loopback, for tests and for trying docs/cluster.md. Root only.

    python tests/workflow/slurm_cluster.py start /tmp/cluster
    python tests/workflow/slurm_cluster.py stop /tmp/cluster

No systemd, no cgroups and no accounting database: sacct knows no job, squeue must be asked. Memory
is watched by polling, and a step that takes more than it asked for is killed.
"""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

CONF = Path("/etc/slurm/slurm.conf")  # compiled in: job steps see no SLURM_CONF
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
INSTALL = "apt-get install --no-install-recommends slurmctld slurmd slurm-client munge"
NAME = "finitewidth"
DAEMONS = ("slurmd", "slurmctld", "munged")  # in the order they are stopped
SEARCHED = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])

# Slurm listens on loopback only. squeue goes on to show jobs that have ended, for an hour. The node
# may claim more than the machine has.
CONFIGURATION = """\
ClusterName={name}
SlurmctldHost=localhost(127.0.0.1)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=2,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MinJobAge=3600
KillWait=5
ReturnToService=2
EnforcePartLimits=ALL
PropagateResourceLimits=NONE
SlurmdParameters=config_overrides
NodeName=localhost NodeAddr=127.0.0.1 NodeHostname={host} CPUs={cpus} RealMemory={memory_mb} \
State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str | None:
    """Why no cluster can be started here; None if one can."""
    if os.geteuid() != 0:
        return "a Slurm cluster of one node is started as root, best in a container"
    absent = [program for program in PROGRAMS if shutil.which(program, path=SEARCHED) is None]
    if absent:
        return f"{', '.join(absent)} not on PATH; on Debian: {INSTALL}"
    if CONF.exists() and not _ours(CONF):
        return f"{CONF} is another cluster's and is left alone; move it away to start one here"
    if any(_runs(process, "slurmctld") for process in Path("/proc").glob("[0-9]*")):
        return "a slurmctld runs on this machine and is left alone"
    return None


def _ours(conf: Path, folder: Path | None = None) -> bool:
    """Whether a slurm.conf was written here, with its state below ``folder`` if one is given."""
    try:
        lines = conf.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return False
    mine = folder is None or f"StateSaveLocation={folder}/state" in lines
    return f"ClusterName={NAME}" in lines and mine


class Cluster:
    """One node whose state, sockets, logs and process ids lie in ``folder``."""

    def __init__(self, folder: Path, cpus: int = 4, memory_mb: int = 64_000):
        self.folder = folder.resolve()
        self.cpus = cpus
        self.memory_mb = memory_mb

    def start(self) -> None:
        """Bring all daemons up and wait until the node is idle.

        Raises:
            RuntimeError: no cluster can be started here, or the node does not come up.
        """
        if reason := missing():
            raise RuntimeError(reason)
        for part in ("munge", "state", "spool", "log", "run"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        (self.folder / "munge").chmod(0o711)
        key = self.folder / "munge/munge.key"
        key.unlink(missing_ok=True)
        with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(secrets.token_bytes(1024))
        CONF.parent.mkdir(exist_ok=True)
        CONF.write_text(self.configuration(), encoding="utf-8")
        try:
            self._bring_up(key)
        except Exception:
            self.stop()
            raise

    def _bring_up(self, key: Path) -> None:
        munge = self.folder / "munge"
        _run(
            "munged",
            "--force",
            f"--key-file={key}",
            f"--socket={munge}/socket",
            f"--pid-file={self.folder}/run/munged.pid",
            f"--log-file={self.folder}/log/munged.log",
            f"--seed-file={munge}/seed",
        )
        _run("slurmctld", "-c")
        _run("slurmd", "-N", "localhost")
        wait_for(lambda: _ask("sinfo", "-h", "-o", "%T") == "idle", 30, "the node is not idle")

    def configuration(self) -> str:
        """The text of slurm.conf."""
        return CONFIGURATION.format(
            name=NAME,
            folder=self.folder,
            host=os.uname().nodename,
            cpus=self.cpus,
            memory_mb=self.memory_mb,
        )

    def stop(self) -> None:
        """Cancel all jobs, end the daemons and remove the slurm.conf that `start` wrote."""
        if (self.folder / "run/slurmctld.pid").exists() and _ours(CONF, self.folder):
            subprocess.run(["scancel", "--user=root"], capture_output=True, timeout=20, check=False)
            time.sleep(1)
        _kill_jobs()
        for daemon in DAEMONS:
            _end(self.folder / f"run/{daemon}.pid", daemon)
        if _ours(CONF, self.folder):
            CONF.unlink()


def wait_for(happened, seconds: float, complaint: str) -> None:
    """Wait until ``happened()`` is true.

    Raises:
        RuntimeError: it was not, for so many seconds.
    """
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise RuntimeError(f"{complaint} after {seconds} s")
        time.sleep(0.1)


def _run(program: str, *arguments: str) -> None:
    subprocess.run(
        [shutil.which(program, path=SEARCHED), *arguments],
        check=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
    )


def _ask(*command: str) -> str:
    answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    return answer.stdout.strip()


def _kill_jobs() -> None:
    """Kill what jobs left: without cgroups a process outlives its job if its parent dies first."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
            if f"SLURM_CLUSTER_NAME={NAME}".encode() in variables:
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            continue


def _runs(process: Path, program: str) -> bool:
    """Whether a process, given by its folder below /proc, is one of a program."""
    try:
        return (process / "comm").read_text().strip() == program
    except OSError:
        return False


def _end(pid_file: Path, daemon: str) -> None:
    """Ask a daemon to end, and kill it if it does not; its own process only."""
    if not pid_file.exists():
        return
    process = Path("/proc") / pid_file.read_text().strip()
    for word in (signal.SIGTERM, signal.SIGKILL):
        if _runs(process, daemon):
            os.kill(int(process.name), word)
            end = time.monotonic() + 10
            while _runs(process, daemon) and time.monotonic() < end:
                time.sleep(0.1)
    pid_file.unlink(missing_ok=True)


if __name__ == "__main__":
    cluster = Cluster(Path(sys.argv[2]))
    try:
        {"start": cluster.start, "stop": cluster.stop}[sys.argv[1]]()
    except RuntimeError as error:
        sys.exit(str(error))
