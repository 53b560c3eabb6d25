# One target for every paper: `snakemake npf` makes all its figures and tables.
for paper in plan.papers:

    rule:
        name:
            paper.name
        input:
            plan.files.targets(paper.name),
        localrule: True
