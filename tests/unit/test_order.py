"""The order of jobs: the first figure comes soon, and the order costs hardly any time."""

import random
from pathlib import Path

import pytest
from tests.workflow_rules import rules

from finitewidth.common.announced import job_name
from finitewidth.common.settings import preset_only
from finitewidth.pipeline.costs.forecast import side_by_side
from finitewidth.pipeline.costs.order import FIRST, Order, Step
from finitewidth.pipeline.plan import Plan
from finitewidth.pipeline.steps import order_of

ROOT = Path(__file__).parents[2]
SMALL = {
    "long": Step(50), "short": Step(2), "middle": Step(7, ("short",)),
    "cheap": Step(1, ("short",), "figure"), "dear": Step(3, ("long", "middle"), "figure"),
    "text": Step(2, ("middle",), "table"), "end": Step(4, ("cheap", "dear", "text", "other run")),
}  # fmt: skip


@pytest.fixture(scope="module")
def plan():
    return Plan(preset_only("quick", ROOT / "config"), ROOT)


def made_up(seed: int) -> Order:
    draw, steps = random.Random(seed), {}
    for number in range(40):
        needs = draw.sample(list(steps), min(number, draw.choice((0, 0, 1, 2))))
        kind = draw.choice(("", "", "figure", "table")) if needs else ""
        steps[f"job {number}"] = Step(draw.uniform(0.1, 9), tuple(needs), kind)
    return Order(dict(draw.sample(list(steps.items()), len(steps))))


def test_the_longest_chain_and_what_remains_of_a_run():
    order = Order(SMALL)
    assert order.critical() == ["long", "dear", "end"]
    assert order.remaining == {
        "long": 57, "short": 16, "middle": 14, "cheap": 5, "dear": 7, "text": 6, "end": 4,
    }  # fmt: skip
    assert order.behind("dear") == {"dear", "long", "middle", "short"}


def test_cheap_figures_come_first_then_figures_and_tables_then_long_chains(monkeypatch):
    monkeypatch.setattr("finitewidth.pipeline.costs.order.FIRST", 1)
    order = Order(SMALL)
    assert order.first == {"short", "cheap"}
    ranked = sorted(order.priorities, key=order.priorities.__getitem__, reverse=True)
    assert ranked == ["cheap", "short", "dear", "text", "long", "middle", "end"]
    assert sorted(order.priorities.values()) == list(range(1, 8))
    assert list(order.ends(1).items())[:2] == [("short", 2), ("cheap", 3)]
    assert order.ends(2)["end"] == 57


@pytest.mark.parametrize("cores", [1, 2, 8])
@pytest.mark.parametrize("seed", range(5))
def test_jobs_of_a_run_wait_for_what_they_need_and_for_a_core(seed, cores):
    order = made_up(seed)
    ends = order.ends(cores)
    starts = {name: end - order.steps[name].seconds for name, end in ends.items()}
    assert ends.keys() == order.steps.keys()
    assert list(ends.values()) == sorted(ends.values())
    for name, step in order.steps.items():
        assert all(ends[need] <= starts[name] + 1e-9 for need in step.needs)
        beside = [n for n in ends if starts[n] <= starts[name] + 1e-9 < ends[n] - 1e-9]
        assert len(beside) <= cores
    work = sum(step.seconds for step in order.steps.values())
    least = max(work / cores, order.remaining[order.critical()[0]])
    assert least <= max(ends.values()) + 1e-9
    assert max(ends.values()) <= work / cores + order.remaining[order.critical()[0]]


def test_the_jobs_and_their_needs_are_those_of_snakemake(plan):
    order = order_of(plan)
    known = rules()
    made = {file: name for name, rule in plan.graph(known.values()).items()
            for file in rule["outputs"]}  # fmt: skip
    for name, rule in plan.graph(known.values()).items():
        if name in order.steps:
            needs = {made[file] for file in rule["inputs"] if file in made}
            assert needs == {n for n in order.steps[name].needs if n in known}, name
    missing = [rule for name, rule in known.items() if name not in order.steps]
    assert {rule.name for rule in missing if rule.has_wildcards()} == {
        "train", "dataset", "claims", "robustness_claims"
    }  # fmt: skip
    assert not any(len(rule.output) for rule in missing if not rule.has_wildcards())
    assert {*plan.trainings()} <= order.steps.keys()
    assert min(step.seconds for step in order.steps.values()) > 0


def test_snakemake_is_told_the_priorities(plan):
    priorities = order_of(plan).priorities
    known = rules()
    for name in known.keys() & priorities.keys():
        assert known[name].priority(wildcards={}) == priorities[name]
    told = {"train": {"paper": "npf", "training": "nu"}, "claims": {"paper": "npf"},
            "dataset": {"source": "digits"}}  # fmt: skip
    for rule, wildcards in told.items():
        wanted = priorities[job_name(rule, wildcards)]
        assert known[rule].priority(wildcards=wildcards) == wanted > 0


@pytest.mark.parametrize("cores", [2, 8])
def test_the_first_figures_come_soon_and_the_order_costs_little(plan, cores):
    order = order_of(plan)
    ends = order.ends(cores)
    figures = [end for name, end in ends.items() if order.steps[name].kind == "figure"]
    assert figures[FIRST - 1] < 30
    work = sum(step.seconds for step in order.steps.values())
    least = max(work / cores, order.remaining[order.critical()[0]])
    assert max(ends.values()) < 1.1 * least


def test_figure_3_of_npf_alone_takes_less_than_three_minutes(plan):
    every = order_of(plan)
    alone = Order({name: every.steps[name] for name in every.behind("npf_fig3")})
    assert list(alone.ends(2))[-1] == "npf_fig3"
    assert max(alone.ends(2).values()) < 180


def test_no_job_takes_a_fifth_of_the_work(plan):
    seconds = [step.seconds for step in order_of(plan).steps.values()]
    assert max(seconds) < sum(seconds) / 5


def test_the_plan_tells_the_longest_chain():
    assert side_by_side(Order(SMALL), 2, pace=2.0) == [
        "on 2 cores like these: 1.9 min",
        "longest chain of jobs: 1.9 min (long 1.67 min, dear 6 s, end 8 s)",
        "longest job: long, 72 % of all work",
        "first figure: cheap, after 6 s",
    ]
