"""``finitewidth verify``: are all results what their jobs wrote?"""

from finitewidth.cli.options import Results
from finitewidth.common.errors import ResultError
from finitewidth.common.usage import provenance_files
from finitewidth.common.verification import Provenances


def verify(*, results: Results = Results()) -> int:
    """Is every result what its job wrote? Nothing is written.

    Example: finitewidth verify --preset laptop

    Raises:
        ResultError: there are no results.
    """
    if not provenance_files(results.folder):
        raise ResultError(f"{results.folder} has no results; {results.run} makes them")
    provenances = Provenances(results.folder)
    problems = provenances.problems()
    checked = len(provenances.stamps)
    print("\n".join([*problems, f"{checked} jobs checked, {len(problems)} problems"]))
    return int(bool(problems))
