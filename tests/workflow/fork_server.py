"""A process that has imported the libraries, and whose forks do the work of new Python processes.

A run at preset smoke starts Python two hundred times, and the import of libraries is most of the
time of such a short job. The modules of the project are imported by each fork itself, from the
folders in its PYTHONPATH. A process finds the server by `forked/sitecustomize.py`.
"""

import contextlib
import gc
import importlib
import json
import os
import runpy
import socket
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "forked"
LIBRARIES = (
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "pandas",
    "pydantic",
    "scipy.integrate",
    "scipy.optimize",
    "scipy.stats",
    "seaborn",
    "sklearn.datasets",
    "snakemake.cli",
    "torch.func",
    "yaml",
)


@contextlib.contextmanager
def started(folder: Path):
    """Start a server, which processes with this environment use until the block ends."""
    address = folder / "address"
    words = [sys.executable, __file__, address]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout.readline() == "ready\n"
        os.environ["FORK_SERVER"] = str(address)
        try:
            yield
        finally:
            os.environ.pop("FORK_SERVER", None)
            server.kill()


def serve(address: str) -> tuple[dict, list[int]]:
    """Fork for every client, and return in the fork what the client asks for."""
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # or each fork would copy the pages of all objects
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while True:
            client, _ = listener.accept()
            if os.fork() == 0:
                break
            client.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:  # of forks that have ended
                    pass
    content, descriptors, *_ = socket.recv_fds(client, 1 << 16, 3)
    while not content.endswith(b"\n"):
        content += client.recv(1 << 16)
    work = os.fork()
    if work == 0:
        client.close()
        return json.loads(content), descriptors
    for each in (0, 1, 2, *descriptors):
        os.close(each)
    _, status = os.waitpid(work, 0)
    client.send(bytes([os.waitstatus_to_exitcode(status) % 256]))
    os._exit(0)


def become(request: dict, descriptors: list[int]) -> None:
    """Do the work of a process with these words, in its folder and environment."""
    for number, each in enumerate(descriptors):
        os.dup2(each, number)
        os.close(each)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    first, *sys.argv = request["words"]
    sys.path[1:1] = os.environ["PYTHONPATH"].split(os.pathsep)
    if first == "-m":
        sys.path[0] = os.getcwd()
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [first, *sys.argv]
        sys.path[0] = os.path.dirname(first)
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    become(*serve(sys.argv[1]))
