"""Let a job wait at a named point: while it writes a certain file. Only the fault tests use this.

Python imports this module at its start if its folder is in PYTHONPATH. The environment variable
FAULT_POINT holds JSON:

    script: a word in the command line of the processes that are meant
    event: an audit event of Python with a path as its last argument of type str
    path: a regular expression that this path matches
    count: which of the matching events
    folder: where the file ``reached`` appears at the point; the job goes on once ``go`` is there
"""

import json
import os
import re
import sys
import time

POINT = json.loads(os.environ.get("FAULT_POINT") or "{}")


def _wait_at_the_point():
    state = {"left": POINT["count"]}
    pattern = re.compile(POINT["path"])
    reached = os.path.join(POINT["folder"], "reached")
    go = os.path.join(POINT["folder"], "go")

    def watch(event, arguments):
        if event != POINT["event"] or state["left"] <= 0:
            return
        paths = [os.fspath(each) for each in arguments if isinstance(each, str | os.PathLike)]
        if not paths or not pattern.search(paths[-1]):
            return
        state["left"] -= 1
        if state["left"] == 0:
            with open(reached, "w") as stream:
                stream.write(str(os.getpid()))
            while not os.path.exists(go):
                time.sleep(0.01)

    sys.addaudithook(watch)


if POINT and any(POINT["script"] in word for word in sys.orig_argv):
    _wait_at_the_point()
