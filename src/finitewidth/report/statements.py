"""Numbered statements of a paper with the results of their checks in this run."""

from collections.abc import Mapping
from typing import Any

from finitewidth.claims.verdicts import HOLDS
from finitewidth.declarations.statements import CLAIM, ERRATUM, TEST, Check, statements_of
from finitewidth.report.findings import NOT_MADE, Findings


def checked_statements(paper: str, findings: Findings) -> list[dict[str, Any]]:
    """The statements of a paper, each with its checks.

    A check has its kind and its words, the result in this run, and the address of its details. A
    missing one has no result.
    """
    claims = {claim["claim"]: claim for claim in findings.claims}
    errata = {erratum["id"]: erratum for erratum in findings.errata}
    rows = []
    for statement in statements_of(paper):
        checks = [_checked(check, claims, errata) for check in statement.checks]
        rows.append({"statement": statement, "checks": checks})
    return rows


def _checked(
    check: Check,
    claims: Mapping[str, Mapping[str, Any]],
    errata: Mapping[str, Mapping[str, str]],
) -> dict[str, str]:
    result = ""
    href = ""
    if check.kind == CLAIM:
        result = claims[check.value]["verdict"]
        href = f"claims.html#{check.value}"
    elif check.kind == ERRATUM:
        erratum = errata.get(check.value)
        result = erratum["outcome"] if erratum else NOT_MADE
        href = f"errata.html#{check.value}" if erratum else ""
    elif check.kind == TEST:
        result = HOLDS
    return {"kind": check.kind, "words": check.words, "result": result, "href": href}
