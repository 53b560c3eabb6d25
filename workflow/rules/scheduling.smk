# Which jobs start first: figures and tables as soon as they can be drawn, then what the longest chain
# of jobs rests on. Which jobs travel together to a cluster: profiles/slurm and profiles/cluster-generic
# say how many go in one group; on one machine Snakemake ignores groups.
for each in workflow.rules:
    each.priority = partial(plan.requests.priority, each.name)
    if plan.requests.group_of(each.name):
        each.group = partial(plan.requests.group, each.name)
