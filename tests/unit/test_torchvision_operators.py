"""``import torchvision`` works after ``make setup``, and where files of users are read."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from finitewidth.common import torchvision_operators
from finitewidth.common.provenance import SOURCE_ROOT

SITE = sysconfig.get_path("purelib")
# a Python that skips .pth files, as an environment that `make setup` did not make
BARE = f"import sys; sys.path += [{SITE!r}, {str(SOURCE_ROOT)!r}]\n"
INSTALL = "from finitewidth.common.torchvision_operators import _declared, install\n"
# stand-ins: the extension does not load, and torchvision goes on without asking
TORCH = """
class Namespace: pass
class ops: torchvision = Namespace()
class library:
    class Library:
        def __init__(self, namespace, kind): pass
        def define(self, schema):
            name = schema.partition("(")[0]
            assert not hasattr(ops.torchvision, name), "declared twice"
            setattr(ops.torchvision, name, schema)
"""
TORCHVISION = {
    "__init__": "from . import extension, _meta_registrations",
    "_internally_replaced_utils": "",
    "extension": "from . import _internally_replaced_utils\ndef _has_ops(): return LOADED",
    "_meta_registrations": """
import torch
from . import extension
if not extension._has_ops() and not hasattr(torch.ops.torchvision, "nms"):
    raise RuntimeError("operator torchvision::nms does not exist")
""",
}


def python(code, *options, cwd=None):
    return subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, cwd=cwd
    )


def test_a_plain_import_works_in_this_environment(tmp_path):
    code = "import sys, torchvision; torchvision.models.resnet18(); torchvision.datasets.MNIST\n"
    done = python(code + "assert 'finitewidth' not in sys.modules", cwd=tmp_path)
    assert not done.returncode, f"`make setup` repairs the import of torchvision: {done.stderr}"


def test_the_import_works_without_the_file_of_the_environment():
    code = "install(); install()\nimport torchvision, torchvision.extension as extension\n"
    check = "assert bool(_declared) != extension._has_ops()\ntorchvision.models.resnet18()\n"
    done = python(BARE + INSTALL + code + check, "-S")
    assert not done.returncode, done.stderr


def test_a_file_of_the_user_may_import_torchvision(tmp_path):
    file = tmp_path / "my_net.py"
    file.write_text(
        "from torchvision.models import resnet18\n"
        "def make(shape, classes): return resnet18(num_classes=classes)\n"
    )
    code = (
        "from finitewidth.networks.user_network import read_user_network\n"
        f"read_user_network({f'{file}:make'!r}).factory()((3, 32, 32), 4)\n"
    )
    done = python(BARE + code, "-S")
    assert not done.returncode, done.stderr


@pytest.fixture
def stand_in(tmp_path):
    """Write torch and torchvision, whose extension loads or not; give their folder."""

    def write(loaded):
        (tmp_path / "torchvision").mkdir()
        for name, text in TORCHVISION.items():
            file = tmp_path / "torchvision" / f"{name}.py"
            file.write_text(text.replace("LOADED", str(loaded)))
        (tmp_path / "torch.py").write_text(TORCH)
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("loaded", "before", "operators"),
    [
        (True, "", []),
        (False, "", ["nms", "qnms"]),
        (False, "torch.library.Library('torchvision', 'DEF').define('nms()')", ["nms", "qnms"]),
    ],
)
def test_only_what_is_missing_is_declared(stand_in, loaded, before, operators):
    """Declaring an operator twice may end the process."""
    code = (
        f"import sys; sys.path[:0] = [{str(stand_in(loaded))!r}, {str(SOURCE_ROOT)!r}]\n"
        f"{INSTALL}install()\nimport torch\n{before}\nimport torchvision.extension\n"
        "print(sorted(name for name in vars(torch.ops.torchvision)))"
    )
    done = python(code, "-S")
    assert done.stdout.strip() == str(operators), done.stderr


@pytest.mark.parametrize("loaded", [True, False])
def test_set_up_repairs_an_environment_that_needs_it_and_no_other(stand_in, loaded, tmp_path):
    venv.create(tmp_path / "env")
    interpreter = next((tmp_path / "env").glob("*/python"))
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    stand_in(loaded)
    for name in ("torch.py", "torchvision"):
        (tmp_path / name).rename(site / name)
    left = [site / f"{torchvision_operators.NAME}{suffix}" for suffix in (".pth", ".py")]
    for _ in range(2):  # the second time, the files are there
        command = [interpreter, torchvision_operators.__file__]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert ("detection models do not work" in done.stdout) != loaded
        assert [file.exists() for file in left] == [not loaded] * 2
        plain = [interpreter, "-W", "error", "-c", "import torchvision"]
        assert subprocess.run(plain, capture_output=True, text=True).stderr == ""


def test_the_module_needs_nothing_else_of_the_project():
    """It is copied out of the package."""
    text = Path(torchvision_operators.__file__).read_text(encoding="utf-8")
    assert "finitewidth." not in text
    assert "from finitewidth" not in text
