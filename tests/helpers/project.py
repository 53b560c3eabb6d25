"""The root of the project: what tests read beside the package."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
