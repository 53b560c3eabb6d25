# One rule for every experiment and every finished artifact that workflow/papers/*.yaml declares, and
# one target for every paper. A job's name is the name of its rule: `snakemake npf_fig3`.


def outputs_of(job):
    """What a job makes; of an artifact, the file that a reader opens first has the caption."""
    files = plan.jobs.outputs(job.name)
    if job.kind == "experiment":
        return files
    first = "png" if job.kind == "figure" else "md"
    files[first] = report(
        files[first],
        caption=os.path.abspath(plan.caption(job.name)),
        category=job.paper,
        labels={"artifact": job.declared.label},
    )
    return {**files, "provenance": f"{results}/provenance/{job.paper}/{job.name}.json"}


for job in plan.declared():

    rule:
        name:
            job.name
        input:
            **in_project(job.inputs),
        output:
            **outputs_of(job),
        log:
            plan.log(job.name),
        benchmark:
            plan.benchmark(job.name)
        conda:
            "../envs/finitewidth.yaml"
        resources:
            mem_mb=partial(plan.requests.memory, job.name),
            runtime=partial(plan.requests.minutes, job.name),
            gpu=plan.gpus(job.name),
        params:
            module=job.declared.module,
            code=plan.code(job.name),
            settings=partial(plan.params, job.name),
            on_device=plan.on_device(job.name),
            checkpoints=plan.checkpoints(job.name),
            seed=config["seed"] if job.kind == "experiment" else 0,
            footer=(
                partial(plan.footers.footer, job.name)
                if job.kind != "experiment"
                else ""
            ),
            mark=partial(plan.footers.mark, job.name) if job.kind == "figure" else "",
        script:
            "../scripts/declared.py"


for paper in plan.papers:

    rule:
        name:
            paper.name
        input:
            plan.targets(paper.name),
        localrule: True
