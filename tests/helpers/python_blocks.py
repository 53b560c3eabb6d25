"""Python blocks of the pages."""

import re

from tests.helpers.project import ROOT

PAGES = {
    page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8")
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
}
BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```", re.M | re.S)
ELSEWHERE = {
    "docs/howto/load.md": "needs results: tests/workflow/test_data_and_artwork.py",
    "docs/howto/module.md": "a Snakefile, which tests/workflow/test_smoke.py runs",
    "docs/howto/restyle.md": "needs results: tests/workflow/test_data_and_artwork.py",
}


def blocks(page: str) -> list[str]:
    """The Python blocks of a page, without their indentation."""
    return [re.sub(f"(?m)^{indent}", "", code) for indent, code in BLOCK.findall(PAGES[page])]
