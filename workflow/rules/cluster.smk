# Which jobs travel together to a cluster. profiles/slurm and profiles/cluster-generic say how many go
# in one group. On one machine Snakemake ignores groups.
for each in workflow.rules:
    if plan.may_travel(each.name):
        each.group = partial(plan.group, each.name)
