"""Ctrl-C and other signals: one line and an exit status, also while modules are loaded.

This module imports little, since it is the first that a command imports.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from typing import Any

MESSAGE = "finitewidth: interrupted"


def status_of(number: int) -> int:
    """Return the exit status that a shell gives to a program which a signal ended."""
    return 128 + number


@contextlib.contextmanager
def handled(handlers: Mapping[int, Callable[..., Any]]) -> Iterator[None]:
    """Handle some signals otherwise in the block; those that are ignored stay ignored."""
    before = {number: signal.getsignal(number) for number in handlers}
    chosen = [number for number in handlers if before[number] is not signal.SIG_IGN]
    for number in chosen:
        signal.signal(number, handlers[number])
    try:
        yield
    finally:
        for number in chosen:
            signal.signal(number, before[number])


@contextlib.contextmanager
def ending_at_once() -> Iterator[None]:
    """End the process at once, with one line, when Ctrl-C is pressed in the block.

    This is meant for imports, which can take seconds and have nothing to put in order.
    """

    def end(number: int, frame: object) -> None:
        os.write(2, f"{MESSAGE}\n".encode())
        os._exit(status_of(number))

    with handled({signal.SIGINT: end}):
        yield
