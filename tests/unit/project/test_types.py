"""Types of the public functions, as a type checker of the user's sees them."""

import subprocess
import sys

SCRIPT = """
import torch
import finitewidth as fw

network = torch.nn.Linear(3, 2)
theta = fw.traced_kernel(network, torch.randn(5, 3), check=False)
fw.traced_kernel(network, torch.randn(5, 3), chek=False)
theta.misspelt
"""


def test_a_misspelt_option_is_an_error_for_a_strict_type_checker(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "script.py"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    lines = checked.stdout.splitlines()
    assert [line.split(":")[1] for line in lines if ": error: " in line] == ["7", "8"]
    assert '"chek"' in lines[0]
    assert '"misspelt"' in checked.stdout
