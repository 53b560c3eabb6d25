"""``import torchvision`` works after ``make setup``, and where files of users are read."""

import subprocess
import sys
import sysconfig

from finitewidth.records.provenance import SOURCE_ROOT

SITE = sysconfig.get_path("purelib")
# a Python that skips .pth files, as an environment that `make setup` did not make
BARE = f"import sys; sys.path += [{SITE!r}, {str(SOURCE_ROOT)!r}]\n"


def python(code, *options, cwd=None):
    return subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, cwd=cwd
    )


def test_a_plain_import_works_in_this_environment(tmp_path):
    code = "import sys, torchvision; torchvision.models.resnet18(); torchvision.datasets.MNIST\n"
    done = python(code + "assert 'finitewidth' not in sys.modules", cwd=tmp_path)
    assert not done.returncode, f"`make setup` repairs the import of torchvision: {done.stderr}"


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
