# Which jobs travel together to a cluster; how many in one go say profiles/slurm and its fallback.
# On one machine Snakemake takes no notice of groups.
for each in workflow.rules:
    if plan.may_travel(each.name):
        each.group = partial(plan.group, each.name)
