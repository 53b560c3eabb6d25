"""What cannot be written is named with a remedy."""

import errno
import os

import pytest

from finitewidth.common.unwritable import unwritable


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (errno.ENOSPC, "the disk is full; free some space and start again"),
        (errno.EACCES, "no permission to write there; change the folder's owner or mode"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_the_message_names_the_file_and_the_remedy(code, remedy):
    error = unwritable(OSError(code, os.strerror(code)), "a.csv")
    assert str(error).startswith(f"cannot write a.csv: {remedy}")
