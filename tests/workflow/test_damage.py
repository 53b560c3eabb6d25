"""A damaged file is named, with the remedy, and a second start finishes."""

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("kill")]
TARGET = "results/smoke/npf/training/nu/history.csv"


@pytest.mark.parametrize("damage", ["truncated", "altered", "emptied"])
def test_a_damaged_dataset_stops_its_training_with_one_message(make_checkout, damage):
    checkout = make_checkout(damage)
    file = checkout.path / "results/data/digits.npz"
    assert checkout.run("results/data/digits.npz").returncode == 0
    content = bytearray(file.read_bytes())
    whole = bytes(content)
    if damage == "altered":
        content[5000] ^= 1
    file.write_bytes({"truncated": content[:3000], "emptied": b""}.get(damage, content))
    answer = checkout.run(TARGET)
    assert answer.returncode != 0
    log = (checkout.path / "results/smoke/logs/npf/training/nu.log").read_text()
    assert "digits.npz" in log
    assert "snakemake --cores 1" in log  # the remedy
    assert "Traceback" not in log
    file.unlink()
    assert checkout.run(TARGET).returncode == 0
    assert file.read_bytes() == whole
