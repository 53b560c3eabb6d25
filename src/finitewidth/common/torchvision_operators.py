"""Let ``import torchvision`` work although its compiled extension does not load.

The usual torchvision for Linux is built for CUDA, and its extension does not load with a build of
torch for CPUs. The import then ends in "operator torchvision::nms does not exist". Only detection
models need the operators, so it suffices to declare them without an implementation.

``make setup`` runs this module. If the import fails, it copies the module into the environment and
writes a ``.pth`` file, which Python reads at each start. The module therefore imports only what
Python has loaded by then.
"""

import sys

FAILURE = "operator torchvision::nms does not exist"
OPERATORS = ("nms", "qnms")
SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
NAME = "finitewidth_torchvision"  # of the two files in the environment
_declared: list[object] = []  # torch removes the operators when the Library object is deleted


class OperatorFinder:
    """Finds no module. Declares the operators when torchvision goes on without its extension."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Look at what is imported; other finders then find it."""
        if name.startswith("torchvision."):
            extension = sys.modules.get("torchvision.extension")
            loaded = getattr(extension, "_has_ops", None)  # absent while it is being executed
            if loaded is not None and not loaded():
                _declare()


def install() -> None:
    """Watch for an import of torchvision; a second call changes nothing."""
    if not any(isinstance(finder, OperatorFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, OperatorFinder())


def _declare() -> None:
    import torch

    # declaring an operator twice aborts the process without an exception
    missing = [name for name in OPERATORS if not hasattr(torch.ops.torchvision, name)]
    if missing:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in missing:
            library.define(name + SIGNATURE)
        _declared.append(library)


def repair() -> str:
    """Make ``import torchvision`` work here if it fails for the operators; say what was done."""
    import subprocess
    import sysconfig
    from pathlib import Path

    folder = Path(sysconfig.get_path("purelib"))
    start = folder / f"{NAME}.pth"
    module = folder / f"{NAME}.py"
    for file in (start, module):
        file.unlink(missing_ok=True)
    command = [sys.executable, "-c", "import torchvision"]
    if FAILURE not in subprocess.run(command, capture_output=True, text=True).stderr:
        return ""
    module.write_bytes(Path(__file__).read_bytes())
    start.write_text(f"import {NAME}; {NAME}.install()\n", encoding="utf-8")
    return (
        f"two files in {folder} let torchvision be imported beside this torch "
        "(docs/environments.md)"
    )


if __name__ == "__main__":
    if message := repair():
        print(message)
