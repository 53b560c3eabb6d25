# The environment of all jobs. Which jobs start first: figures and tables as soon as they can be
# drawn, then what the longest chain of jobs rests on. Which jobs travel together to a cluster:
# profiles/slurm and profiles/cluster-generic say how many go in one group; on one machine Snakemake
# ignores groups.
for name, each in rules_by_name().items():
    each.conda_env = "../envs/finitewidth.yaml" if each.script else None
    each.priority = partial(plan.requests.priority, name)
    if plan.requests.group_of(name):
        each.group = partial(plan.requests.group, name)
