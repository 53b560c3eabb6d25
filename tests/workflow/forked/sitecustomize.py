"""Leave the work of a new Python process to a fork of `tests.workflow.fork_server`.

Python imports this module at its start if its folder is in PYTHONPATH. Only Snakemake, the
scripts of its jobs and the command finitewidth are meant.
"""

import json
import os
import re
import socket
import sys

ADDRESS = os.environ.get("FORK_SERVER")
MEANT = r"-m (snakemake|finitewidth)\b|\S*/\.snakemake/scripts/"


def _left_to_the_server(words):
    request = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(ADDRESS)
        socket.send_fds(server, [json.dumps(request).encode() + b"\n"], [0, 1, 2])
        status = server.recv(1)
    os._exit(status[0] if status else 1)


if ADDRESS and re.match(MEANT, " ".join(sys.orig_argv[1:3])):
    _left_to_the_server(sys.orig_argv[1:])
