"""What the first page of the report and the page of errata count."""

from collections.abc import Mapping
from typing import Any

from finitewidth.claims import grades, reported, verdicts
from finitewidth.claims.facts import Fact, counted, number_key
from finitewidth.report import findings as states
from finitewidth.report.findings import Findings

SCALE_WORDS = {
    grades.AT_SIZES: "at the paper's sizes",
    grades.SMALLER: "at reduced sizes",
    grades.ON_STAND_IN: "on a stand-in for the paper's data",
    grades.DRAWN: "drawings and tables of equations",
    states.OTHER_SETTINGS: "made with other settings than those of this report",
    states.OTHER_RUN: "of another run: made with other code, or from other files than those of now",
}
STRONGEST = 4  # claims of each verdict on the first page


def overview(findings: Findings) -> dict[str, Any]:
    """The counts of the tiles on the first page."""
    shown = [a.scale if a.state == states.MADE else a.state for a in findings.own]
    alarms = [float(c["false_alarm"]) for c in findings.claims if c.get("false_alarm")]
    numbers = {}  # of those that are printed: kind -> outcome -> count
    for kind in ("measured", "constant"):
        outcomes = [n["outcome"] for n in findings.numbers if n.get("kind") == kind]
        if outcomes:
            numbers[kind] = counted(outcomes, reported.OUTCOMES)
    return {
        "findings": findings,
        "states": counted(shown, (*SCALE_WORDS, states.NOT_MADE, states.ALTERED)),
        "scales": counted(shown, SCALE_WORDS),
        "scale_words": SCALE_WORDS,
        "judged": judged(findings),
        "numbers": numbers,
        "altered": [a for paper in findings.papers for a in paper.artifacts if a.problems],
        "alarms": sum(alarms),
        "candidates": sum(alarm > 0 for alarm in alarms),
    }


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
    found = {}
    for word, counts in ((verdicts.CONTRADICTED, "failing"), (verdicts.SUPPORTED, "comparisons")):
        claims = [c for c in findings.claims if c["verdict"] == word and c["statistic"]]
        ranks = list(grades.GRADES)
        claims.sort(key=lambda c, n=counts: (ranks.index(c["grade"]), -int(c[n] or 0)))
        if word == verdicts.SUPPORTED:
            claims.sort(key=is_equation)  # the order among others stays
        chosen: list[Mapping[str, Any]] = []
        for claim in claims:
            of_paper = sum(c["paper"] == claim["paper"] for c in chosen)
            if len(chosen) < STRONGEST and of_paper < STRONGEST // 2:
                chosen.append(claim)
        found[word] = chosen
    return {
        "strongest": found,
        "rest": judged(findings) - sum(map(len, found.values())),
        "shorts": {paper.name: paper.short for paper in findings.papers},
    }


def is_equation(claim: Mapping[str, Any]) -> bool:
    """Whether the decisive comparison is with one value: a count, or a range around the value."""
    around = " to " in claim["threshold"]
    return around or claim["threshold_of"] == verdicts.PAPER_WITH_TOLERANCE


def evidence(findings: Findings) -> dict[str, Any]:
    """How many results there are of each grade."""
    artifacts = [a.grade if a.state == states.MADE else "" for a in findings.own]
    claims = [c["grade"] if c["verdict"] not in verdicts.OPEN else "" for c in findings.claims]
    numbers = [n["grade"] if n["outcome"] != reported.NOT_RUN else "" for n in findings.numbers]
    words = {"tables and figures": artifacts, "claims": claims, "printed numbers": numbers}
    return {
        "table": {name: counted(found, grades.GRADES) for name, found in words.items()},
        "rest": {name: found.count("") for name, found in words.items()},
    }


def news(findings: Findings) -> dict[str, Any]:
    """The facts that do not hold, and the rows that they refer to."""
    numbers: dict[str, list[Mapping[str, str]]] = {}
    for number in findings.numbers:
        if number["outcome"] == reported.OFF:
            numbers.setdefault(number_key(number), []).append(number)
    errata = {erratum["id"]: erratum for erratum in findings.errata}
    bare = [fact for fact in findings.facts if not (fact.claims or fact.numbers)]
    papers = [errata[fact.errata[0]]["paper"] for fact in bare]
    claims = {claim["claim"]: claim for claim in findings.claims}
    places = {paper.name: place for place, paper in enumerate(findings.papers)}

    def order(fact: Fact) -> tuple[Any, ...]:
        judged = [claims[name] for name in fact.claims]
        in_part = all(claim["verdict"] == verdicts.IN_PART for claim in judged)
        return not judged, in_part, [places[claim["paper"]] for claim in judged]

    facts = sorted(findings.facts, key=order)
    return {
        "facts": facts,
        "claims": claims,
        "numbers": numbers,
        "errata": errata,
        "misprints": counted(papers, places),
    }
