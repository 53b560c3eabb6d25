# What all rules share: the checked configuration and the folder its results go to.
from finitewidth.locks import release_stale_locks
from finitewidth.plan import Plan
from finitewidth.provenance import code_digest
from finitewidth.settings import typed

config.update(typed(config))
# held until this process ends; jobs of a cluster belong to a run that holds it already
share = workflow.is_main_process and release_stale_locks(".snakemake")

plan = Plan(config, workflow.basedir)
results = plan.results


report: "../report/workflow.rst"


wildcard_constraints:
    source="[A-Za-z0-9_-]+",
    paper="[a-z0-9]+",
    training="[A-Za-z0-9_-]+",
