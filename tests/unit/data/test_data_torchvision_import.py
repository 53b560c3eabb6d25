import importlib
import subprocess
import sys
from types import ModuleType

import pytest

from finitewidth.data import torchvision_import
from finitewidth.data.torchvision_import import import_torchvision

HALF_IMPORTED = ("torchvision.extension", "torchvision.ops")


@pytest.fixture
def stage(monkeypatch):
    """Replace the import by ``outcomes``, one after the other; collect what is declared."""
    calls = []

    def play(*outcomes):
        waiting = list(outcomes)

        def fake_import(name):
            calls.append(name)
            outcome = waiting.pop(0)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        monkeypatch.setattr(importlib, "import_module", fake_import)
        monkeypatch.setattr(torchvision_import, "_declare_operators", lambda: calls.append("ops"))
        return calls

    return play


def test_a_healthy_torchvision_is_left_alone(stage):
    module = ModuleType("torchvision.datasets")
    calls = stage(module)
    assert import_torchvision() is module
    assert calls == ["torchvision.datasets"]


def test_missing_operators_are_supplied_once(stage, monkeypatch):
    for name in HALF_IMPORTED:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "torchvision_like", ModuleType("torchvision_like"))
    module = ModuleType("torchvision.datasets")
    calls = stage(RuntimeError("operator torchvision::nms does not exist"), module)
    assert import_torchvision() is module
    assert calls == ["torchvision.datasets", "ops", "torchvision.datasets"]
    assert not set(HALF_IMPORTED) & set(sys.modules)
    assert "torchvision_like" in sys.modules


@pytest.mark.parametrize(
    "error",
    [
        ImportError("No module named 'torchvision'"),
        RuntimeError("operator torchvision::roi_align does not exist"),
        RuntimeError("Couldn't load custom C++ ops"),
        OSError("libcudart.so.12"),
    ],
)
def test_any_other_failure_passes_unchanged(stage, error):
    calls = stage(error)
    with pytest.raises(type(error)) as caught:
        import_torchvision()
    assert caught.value is error
    assert calls == ["torchvision.datasets"]


def test_failing_again_after_the_remedy_is_not_hidden(stage):
    first, second = (RuntimeError("operator torchvision::nms does not exist") for _ in range(2))
    stage(first, second)
    with pytest.raises(RuntimeError) as caught:
        import_torchvision()
    assert caught.value is second


@pytest.mark.parametrize("before", ["", "try:\n    import torchvision\nexcept Exception: pass\n"])
def test_works_in_a_new_process(before):
    code = before + (
        "from finitewidth.data.torchvision_import import import_torchvision\n"
        "assert import_torchvision().MNIST.__name__ == 'MNIST'\n"
        "assert import_torchvision() is import_torchvision()\n"
        "import torchvision\n"
        "assert torchvision.datasets is import_torchvision()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_healthy_installation_never_meets_the_declaration(tmp_path):
    """Operators are declared in a process where they exist already: the import must not do it."""
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision" / "__init__.py").write_text(
        "import torch\n"
        "library = torch.library.Library('torchvision', 'DEF')\n"
        "library.define('nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor')\n"
    )
    (tmp_path / "torchvision" / "datasets.py").write_text("healthy = True\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from finitewidth.data.torchvision_import import _kept_alive, import_torchvision\n"
        "assert import_torchvision().healthy and not _kept_alive\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
