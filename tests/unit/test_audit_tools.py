"""What the tools of `make sbom` and `make audit` read; without a network.

They have an environment of their own, which `make sbom` sets up. Without it the tests are skipped.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from tests.unit.test_environment_pins import LOCK, LOCK_FILES

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "build/audit/bin"
pytestmark = pytest.mark.full
needs_tools = pytest.mark.skipif(
    not (ROOT / "build/audit/installed").exists(), reason="`make sbom` installs the tools"
)


@needs_tools
@pytest.mark.parametrize("file", sorted({*LOCK_FILES} - {"requirements-cpu.lock"}))
def test_the_audit_reads_every_pinned_version(file):
    command = [TOOLS / "pip-audit", "--dry-run", "--strict", "--require-hashes", "--disable-pip",
               "--progress-spinner", "off", "--requirement", ROOT / file]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Dry run: would have audited" in done.stderr


@needs_tools
def test_the_bill_of_materials_names_every_installed_package_with_version_and_licence(tmp_path):
    def written(name):
        command = [TOOLS / "cyclonedx-py", "environment", "--pyproject", ROOT / "pyproject.toml",
                   "--output-reproducible", "--output-file", tmp_path / name,
                   sys.executable]  # fmt: skip
        subprocess.run(command, capture_output=True, check=True)
        return (tmp_path / name).read_bytes()

    bill = json.loads(written("first.json"))
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "finitewidth"
    found = {canonicalize_name(part["name"]): part for part in bill["components"]}
    versions = {name: found[name]["version"].partition("+")[0] for name in LOCK}
    assert versions == LOCK
    assert len([name for name in LOCK if found[name].get("licenses")]) > 0.9 * len(LOCK)
    assert written("second.json") == written("first.json")
