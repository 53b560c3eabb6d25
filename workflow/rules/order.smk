# Which jobs start first: those of the cheapest figures, then each figure as soon as it can be drawn,
# then what the longest chain of jobs rests on (src/finitewidth/pipeline/costs/order.py).
from finitewidth.pipeline.steps import priority

for each in workflow.rules:
    each.priority = partial(priority, plan, each.name)
