"""`stored_map`: results of pieces of work are stored, and a restarted job computes the others."""

import logging

import numpy as np
import pytest
import torch
from tests.helpers.killing import KilledError

from finitewidth.training.checkpoints import Checkpoints, stored_map

PIECES = list("abcdefg")


class Work:
    """A function of a piece, the pieces it was called with, and the number of calls it survives."""

    def __init__(self, survives=10**9):
        self.called = []
        self.survives = survives

    def __call__(self, piece):
        if len(self.called) == self.survives:
            raise KilledError
        self.called.append(piece)
        numbers = {"row": [{"at": np.float64(ord(piece) / 3), "n": np.int64(3), "none": None}]}
        return {**numbers, "pair": (piece, True), "tensor": torch.tensor([0.1, float("nan")])}


def stored(folder, work, seconds=-1.0, pieces=PIECES, identity="0a", part="letters"):
    return list(stored_map(work, pieces, Checkpoints(folder, identity, seconds), part))


def same(found, expected):
    assert repr(found) == repr(expected)


WANTED = list(stored_map(Work(), PIECES))


def test_without_checkpoints_it_is_map():
    assert [each["pair"] for each in WANTED] == [(piece, True) for piece in PIECES]
    assert WANTED[0]["row"] == [{"at": 97 / 3, "n": 3, "none": None}]
    assert {type(value) for value in WANTED[0]["row"][0].values()} == {float, int, type(None)}
    assert list(stored_map(str, [])) == []


@pytest.mark.parametrize("killed", range(len(PIECES) + 1))
def test_a_restart_computes_only_what_is_missing(tmp_path, caplog, killed):
    if killed < len(PIECES):
        with pytest.raises(KilledError):
            stored(tmp_path, Work(survives=killed))
    else:
        stored(tmp_path, Work())
    work = Work()
    with caplog.at_level(logging.INFO, "finitewidth"):
        same(stored(tmp_path, work), WANTED)
    assert work.called == PIECES[killed:]
    assert (f"letters: continuing after {killed} of 7 pieces" in caplog.text) == (killed > 0)


@pytest.mark.parametrize("damaged", [0, 3, 6])
def test_a_damaged_checkpoint_costs_only_its_own_pieces(tmp_path, caplog, damaged):
    stored(tmp_path, Work())
    files = sorted(tmp_path.rglob("*.pt"))
    content = files[damaged].read_bytes()
    files[damaged].write_bytes(content[:200] + bytes([content[200] ^ 1]) + content[201:])
    for survives in (1, 0):
        work = Work(survives)
        same(stored(tmp_path, work), WANTED)
        assert work.called == [PIECES[damaged]] * survives
    assert caplog.text.count(f"{files[damaged]} is damaged and is ignored") == 2
    assert len(list(tmp_path.rglob("*.pt"))) == len(PIECES) + 1


@pytest.mark.parametrize("other", [{"identity": "0b"}, {"part": "others"}])
def test_other_identities_and_parts_have_results_of_their_own(tmp_path, other):
    stored(tmp_path, Work())
    work = Work()
    same(stored(tmp_path, work, **other), WANTED)
    assert work.called == PIECES
