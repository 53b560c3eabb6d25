"""What the first page of the report and the page of errata count."""

from collections.abc import Mapping, Sequence
from typing import Any

from finitewidth.claims import grades, reported, verdicts
from finitewidth.claims.facts import Fact, counted, number_key
from finitewidth.report import findings as states
from finitewidth.report.findings import Findings

SCALE_WORDS = {
    grades.AT_SIZES: "at the paper's sizes",
    grades.FEWER_RUNS: "at the paper's sizes with fewer runs",
    grades.OWN_SIZES: "at sizes of our own",
    grades.SMALLER: "at reduced sizes",
    grades.ON_STAND_IN: "on a stand-in for the paper's data",
    grades.DRAWN: "drawings and tables of equations",
    states.OTHER_SETTINGS: "made with other settings than those of this report",
    states.OTHER_RUN: "of another run: made with other code, or from other files than those of now",
}
STRONGEST = 4  # claims of each verdict on the first page


def overview(findings: Findings) -> dict[str, Any]:
    """The counts of the tiles on the first page."""
    artifacts = [artifact for paper in findings.papers for artifact in paper.artifacts]
    statuses = [artifact.status for artifact in findings.originals]
    alarms = []
    for claim in findings.claims:
        if claim.get("false_alarm"):
            alarms.append(float(claim["false_alarm"]))
    return {
        "findings": findings,
        "states": counted(statuses, states.STATUSES),
        "scales": counted(statuses, SCALE_WORDS),
        "scale_words": SCALE_WORDS,
        "judged": judged(findings),
        "numbers": _outcomes_by_kind(findings),
        "altered": [artifact for artifact in artifacts if artifact.problems],
        "alarms": sum(alarms),
        "candidates": sum(alarm > 0 for alarm in alarms),
    }


def _outcomes_by_kind(findings: Findings) -> dict[str, dict[str, int]]:
    """Kind of a printed number -> outcome -> count, for the kinds that occur."""
    counts = {}
    for kind in ("measured", "constant"):
        outcomes = [number["outcome"] for number in findings.numbers if number.get("kind") == kind]
        if outcomes:
            counts[kind] = counted(outcomes, reported.OUTCOMES)
    return counts


def judged(findings: Findings) -> int:
    """How many claims have a verdict of this run."""
    return sum(claim["verdict"] not in verdicts.OPEN for claim in findings.claims)


def strongest(findings: Findings) -> dict[str, Any]:
    """The claims with the clearest verdicts: contradicted, and supported without a caveat.

    Of each, those that were computed exactly come first, then those at the paper's sizes, then
    those with the most comparisons: failing ones for the first, passed ones for the second.
    Supported claims whose decisive comparison is an equation come last: a value that can only be
    equal to its threshold has no margin. No paper fills more than half of a list.
    """
    contradicted = _clearest(findings, verdicts.CONTRADICTED, "failing")
    supported = _clearest(findings, verdicts.SUPPORTED, "comparisons")
    supported.sort(key=is_equation)  # a stable sort
    lists = {
        verdicts.CONTRADICTED: _mixed(contradicted),
        verdicts.SUPPORTED: _mixed(supported),
    }
    return {
        "strongest": lists,
        "rest": judged(findings) - sum(map(len, lists.values())),
        "shorts": {paper.name: paper.short for paper in findings.papers},
    }


def _clearest(findings: Findings, verdict: str, count: str) -> list[Mapping[str, Any]]:
    """The claims with a verdict, by their grade and then by the column ``count``, largest first."""
    grade_order = list(grades.GRADES)

    def key(claim: Mapping[str, Any]) -> tuple[int, int]:
        return grade_order.index(claim["grade"]), -int(claim[count] or 0)

    claims = [
        claim for claim in findings.claims if claim["verdict"] == verdict and claim["statistic"]
    ]
    return sorted(claims, key=key)


def _mixed(claims: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first `STRONGEST` claims, of which no paper has more than half."""
    chosen: list[Mapping[str, Any]] = []
    for claim in claims:
        from_paper = sum(other["paper"] == claim["paper"] for other in chosen)
        if len(chosen) < STRONGEST and from_paper < STRONGEST // 2:
            chosen.append(claim)
    return chosen


def is_equation(claim: Mapping[str, Any]) -> bool:
    """Whether the decisive comparison is with one value: a count, or a range around the value."""
    is_range = " to " in claim["threshold"]
    return is_range or claim["threshold_of"] == verdicts.PAPER_WITH_TOLERANCE


def evidence(findings: Findings) -> dict[str, Any]:
    """How many results there are of each grade; results without one are the ``rest``."""
    artifacts = []
    for artifact in findings.originals:
        made = artifact.state == states.MADE
        artifacts.append(artifact.grade if made else "")
    claims = []
    for claim in findings.claims:
        decided = claim["verdict"] not in verdicts.OPEN
        claims.append(claim["grade"] if decided else "")
    numbers = []
    for number in findings.numbers:
        computed = number["outcome"] != reported.NOT_RUN
        numbers.append(number["grade"] if computed else "")
    results = {"tables and figures": artifacts, "claims": claims, "printed numbers": numbers}
    table = {}
    rest = {}
    for name, grades_of_results in results.items():
        table[name] = counted(grades_of_results, grades.GRADES)
        rest[name] = grades_of_results.count("")
    return {"table": table, "rest": rest}


def news(findings: Findings) -> dict[str, Any]:
    """The facts that do not hold, and the rows that they refer to."""
    numbers_off: dict[str, list[Mapping[str, str]]] = {}
    for number in findings.numbers:
        if number["outcome"] == reported.OFF:
            numbers_off.setdefault(number_key(number), []).append(number)
    errata = {erratum["id"]: erratum for erratum in findings.errata}
    claims = {claim["claim"]: claim for claim in findings.claims}
    paper_order = {paper.name: number for number, paper in enumerate(findings.papers)}

    def order(fact: Fact) -> tuple[Any, ...]:
        of_fact = [claims[name] for name in fact.claims]
        in_part = all(claim["verdict"] == verdicts.IN_PART for claim in of_fact)
        return not of_fact, in_part, [paper_order[claim["paper"]] for claim in of_fact]

    # papers of errata that concern no claim and no number
    misprints = []
    for fact in findings.facts:
        if not (fact.claims or fact.numbers):
            misprints.append(errata[fact.errata[0]]["paper"])
    return {
        "facts": sorted(findings.facts, key=order),
        "claims": claims,
        "numbers": numbers_off,
        "errata": errata,
        "misprints": counted(misprints, paper_order),
    }
