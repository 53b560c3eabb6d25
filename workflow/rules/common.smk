# What all rules share: the checked configuration and the folder its results go to.
from finitewidth.plan import Plan
from finitewidth.provenance import code_digest

plan = Plan(config, workflow.basedir)
results = plan.results


report: "../report/workflow.rst"


wildcard_constraints:
    source="[A-Za-z0-9_-]+",
    paper="[a-z0-9]+",
    training="[A-Za-z0-9_-]+",
