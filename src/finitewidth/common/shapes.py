"""Arrays whose annotations say their shapes, such as ``Float[Tensor, "N K"]``.

To Python, to type checkers and to editors these are `typing.Annotated`: the array, with a remark
that nothing reads. So the library needs no further package, and checks nothing while it runs.

The tests of `finitewidth.kernels` read the remarks (tests/helpers/shape_checks.py): the types of
the same names of jaxtyping take the place of these, and the shapes in each call are compared. The
documentation does so for its signatures.

Axes are named as in docstrings, and axes of one name in one call are of one length. ``*R`` stands
for any number of axes, ``...`` for any that are not compared, ``_`` for one that is not, ``#`` for
broadcasting, a number for a length, and "" for a single number.
"""

from types import ModuleType
from typing import Annotated as Bool
from typing import Annotated as Float
from typing import Annotated as Int
from typing import Annotated as Num
from typing import Annotated as Shaped

# of booleans, floating-point numbers, whole numbers, both kinds of numbers, and anything
__all__ = ["Bool", "Float", "Int", "Num", "Shaped"]


def read_by(package: ModuleType) -> None:
    """Put the types of a package in place of these, before the first import of a kernel."""
    for name in __all__:
        globals()[name] = getattr(package, name)
