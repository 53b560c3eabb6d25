"""``finitewidth verify``: are all results what their jobs wrote?"""

from pathlib import Path

from finitewidth.common.errors import ResultError
from finitewidth.common.verification import Provenances


def verify(results: str) -> int:
    """Print what is wrong with the results of a run; write nothing.

    Args:
        results: their folder.

    Returns:
        The exit status: 0 if nothing is wrong, else 1.

    Raises:
        ResultError: there are no results.
    """
    if not Path(results).is_dir():
        raise ResultError(f"there is no folder {results}; finitewidth run makes results")
    provenances = Provenances(results)
    problems = provenances.problems()
    print("\n".join([*problems, f"{len(provenances.stamps)} jobs checked, "
                                f"{len(problems)} problems"]))  # fmt: skip
    return int(bool(problems))
