"""The digest of code sees behaviour, wherever imported from, and no wording, in every Python."""

import hashlib
import textwrap

import pytest

from finitewidth.records import code
from finitewidth.records.code import code_digest, statements

ROOT = "finitewidth.root"
TREE = {
    "__init__": '"""The package."""\n',
    "root": """
        from finitewidth.inner import middle

        def answer(x):
            return middle.twice(x)
        """,
    "aside": "VALUE = 1\n",
    "inner.__init__": "",
    "inner.middle": """
        from finitewidth.inner import leaf
        from finitewidth.inner.leaf import FACTOR
        from finitewidth.outer import shift

        def twice(x):
            return FACTOR * shift(x)
        """,
    "inner.leaf": """
        import math

        FACTOR = 2


        class Rule:
            '''Of thumb.'''

            def formula(self, x):
                '''Say something.'''
                return math.sqrt(x) + 1  # explained
        """,
    "outer": """
        def shift(x):
            import finitewidth.late

            return finitewidth.late.STEP + x
        """,
    "late": "STEP = 1\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in place of the real one; a call rewrites modules and gives root's digest."""
    monkeypatch.setattr(code, "SOURCE_ROOT", tmp_path)
    code.forget_modules()

    def write(**modules):
        for name, text in modules.items():
            path = tmp_path.joinpath("finitewidth", *name.replace("__init__", "INIT").split("."))
            path = path.with_name(path.name.replace("INIT", "__init__") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        code.forget_modules()
        return code_digest(ROOT)

    write(**TREE)
    yield write
    code.forget_modules()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# explained", "# explained otherwise"),
        ("'''Say something.'''", "'''Say something else.'''"),
        ("'''Of thumb.'''", ""),
        ("FACTOR = 2\n", "FACTOR=2\n\n\n"),
        ("math.sqrt(x) + 1", "(math.sqrt(x)\n            + 1)"),
    ],
)
def test_wording_does_not_change_the_digest(package, old, new):
    before = code_digest(ROOT)
    text = textwrap.dedent(TREE["inner.leaf"])
    assert old in text
    assert package(**{"inner.leaf": text.replace(old, new)}) == before


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("inner.leaf", "+ 1", "+ 2"),
        ("inner.leaf", "FACTOR = 2", "FACTOR = 3"),
        ("inner.middle", "FACTOR * shift(x)", "shift(x) * FACTOR"),
        ("late", "1", "2"),
        ("__init__", '"""The package."""', "import os"),
        ("inner.__init__", "", "X = 1\n"),
    ],
)
def test_behaviour_anywhere_changes_the_digest(package, module, old, new):
    before = code_digest(ROOT)
    assert package(**{module: textwrap.dedent(TREE[module]).replace(old, new)}) != before
    assert package(**{module: TREE[module]}) == before


def test_modules_out_of_reach_do_not_count(package):
    before = code_digest(ROOT)
    assert package(aside="VALUE = 2\n", new="import os\n") == before


def test_the_packages_of_a_module_count(package, tmp_path):
    before = code.code_of(["finitewidth.inner.leaf"], [], tmp_path)
    assert {"finitewidth", "finitewidth.inner", "finitewidth.inner.leaf"} <= {*before.modules}
    package(**{"inner.__init__": "X = 1\n"})
    assert code.code_of(["finitewidth.inner.leaf"], [], tmp_path) != before


EVERY_KIND = '''
@decorated(1, *rest, key=None)
async def f(a, /, b: int = 2, *args, c="\\u00e9", **words) -> None:
    """Said."""
    x = f"{a!r:>{b}} {{}} {b=}" 'and' f"{a:}"
    match x:
        case [1, *_] | {"k": v, **others}:
            del x
    with a as y, b:
        await [i async for i in y if not i]
    try:
        global z
        z: float = -1.5e300
    except* (A, B) as error:
        raise error from None
class C(Base, metaclass=M):
    ...
'''


def test_a_digest_is_the_same_in_every_version_of_python():
    """Computed under 3.11, 3.12, 3.13 and 3.14, whose syntax trees differ in several of these."""
    digest = hashlib.sha256(statements(EVERY_KIND).encode()).hexdigest()[:16]
    assert digest == "33a187a9e099fe7c"


def test_columns_of_a_paper_stand_in_one_module_or_in_a_folder():
    found = code.column_modules(["thesis", "collapse"])
    assert "finitewidth.papers.thesis.columns" in found
    assert "finitewidth.papers.collapse.columns.flow" in found
    assert all(map(code.describes, found))
