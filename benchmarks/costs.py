"""The formula for trainings against what they took: estimated over measured CPU seconds.

    python benchmarks/costs.py results/quick

Reads the provenance of a finished run of a preset. The reference machine's constants
(`finitewidth.pipeline.costs.work.REFERENCE`) are fitted so that most ratios lie within a factor of
two. All other jobs stand in a table that `python -m finitewidth costs` measures.
"""

import sys
from pathlib import Path

from finitewidth.common.result_files import read_json
from finitewidth.common.settings import preset_only
from finitewidth.common.usage import usage_in
from finitewidth.pipeline.costs.forecast import cost
from finitewidth.pipeline.costs.table import TABLE, read_costs
from finitewidth.pipeline.costs.work import REFERENCE, here
from finitewidth.pipeline.plan import Plan

ROOT = Path(__file__).parents[1]


def main():
    folder = Path(sys.argv[1])
    plan = Plan(preset_only(folder.name, ROOT / "config"), ROOT)
    costs, machine = read_costs(ROOT / TABLE, folder.name), here(1)
    print(f"yardstick: this core does {machine.flops / REFERENCE.flops:.2f} of the reference\n")
    print(f"{'training':<28} {'estimate':>9} {'measured':>9} {'ratio':>6}")
    ratios = []
    for name in plan.trainings():
        paper, training = name.split("/")
        file = folder / paper / "training" / training / "provenance.json"
        if not file.is_file():
            continue
        estimated = machine.seconds(cost(name, plan.config, plan.trainings(), costs).work)
        seconds = usage_in(read_json(file)).cpu
        ratios.append(estimated / seconds)
        print(f"{name:<28} {estimated:>9.1f} {seconds:>9.1f} {ratios[-1]:>6.2f}")
    within = sum(0.5 <= ratio <= 2 for ratio in ratios)
    print(f"\nwithin a factor of two: {within} of {len(ratios)}")


if __name__ == "__main__":
    main()
