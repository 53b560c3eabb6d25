# What every rule gets: the environment of its jobs; which jobs start first, figures and tables as soon
# as they can be drawn, then what the longest chain of jobs rests on; and which jobs travel together to
# a cluster (profiles/slurm and profiles/cluster-generic say how many go in one group; on one machine
# Snakemake ignores groups). `snakemake --list` shows the title of what a rule makes.
for name, each in rules_by_name().items():
    each.conda_env = "../envs/finitewidth.yaml" if each.script else None
    each.priority = partial(plan.requests.priority, name)
    if plan.requests.group_of(name):
        each.group = partial(plan.requests.group, name)
    each.docstring = titles.get(name, each.docstring)
