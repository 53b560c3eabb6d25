"""The plan of costs against what jobs took: estimated over measured CPU seconds, job by job.

    python benchmarks/costs.py results/quick

Reads the benchmark files of a finished run; the reference machine's constants
(`finitewidth.pipeline.costs.work.REFERENCE`) are fitted so that most ratios lie within a factor
of two.
"""

import csv
import sys
from pathlib import Path

from finitewidth.common.settings import preset_only
from finitewidth.pipeline.costs.forecast import cost
from finitewidth.pipeline.costs.work import REFERENCE, here
from finitewidth.pipeline.plan import Plan

ROOT = Path(__file__).parents[1]


def measured(folder):
    """Job -> CPU seconds, of trainings and experiments and renderers."""
    found = {}
    for file in sorted((folder / "benchmarks").rglob("*.tsv")):
        with file.open(encoding="utf-8", newline="") as stream:
            seconds = float(list(csv.DictReader(stream, delimiter="\t"))[-1]["cpu_time"])
        training = file.parent.name == "training"
        found[f"{file.parent.parent.name}/{file.stem}" if training else file.stem] = seconds
    return found


def main():
    folder = Path(sys.argv[1])
    plan = Plan(preset_only(folder.name, ROOT / "config"), ROOT)
    machine = here(1)
    print(f"yardstick: this core does {machine.flops / REFERENCE.flops:.2f} of the reference\n")
    print(f"{'job':<28} {'estimate':>9} {'measured':>9} {'ratio':>6}")
    ratios = []
    for job, seconds in measured(folder).items():
        if job in ("npf", "npf0", "dgn", "trust", "thesis", "beyond", "collapse"):
            continue
        estimated = machine.seconds(cost(job, plan.config, plan.trainings()))
        ratios.append(estimated / seconds)
        print(f"{job:<28} {estimated:>9.1f} {seconds:>9.1f} {ratios[-1]:>6.2f}")
    within = sum(0.5 <= ratio <= 2 for ratio in ratios)
    print(f"\nwithin a factor of two: {within} of {len(ratios)}")


if __name__ == "__main__":
    main()
