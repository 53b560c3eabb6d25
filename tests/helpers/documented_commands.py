"""Blocks of code of a page of the documentation, and its commands carried out in a checkout."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.helpers.workflow_checkout import Checkout


def blocks(page: Path, kind: str) -> list[str]:
    """The blocks of one kind of a page, without continued lines."""
    text = page.read_text(encoding="utf-8")
    return [block.replace("\\\n", " ") for block in re.findall(rf"```{kind}\n(.*?)```", text, re.S)]


def called(clone: Checkout, command: str) -> subprocess.CompletedProcess:
    """Carry out a line as in a shell; output and errors together in ``stdout``."""
    environment = clone.environment() | {
        "HOME": str(clone.path / "home"),
        "FINITEWIDTH_TERMINAL": "",
        "COLUMNS": "120",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    return subprocess.run(
        ["bash", "-c", command],
        cwd=clone.path,
        env=environment,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
