# One rule for every experiment and every finished artifact that workflow/papers/*.yaml declares, and
# one target for every paper. A job's name is the name of its rule: `snakemake npf_fig3`.


def caption_of(job, files):
    """The files of an artifact; the one that a reader opens first carries the caption."""
    shown = "png" if job.kind == "figure" else "md"
    files[shown] = report(
        files[shown],
        caption=f"{workflow.basedir}/{plan.caption(job.name)}",
        category=job.paper,
        labels={"artifact": job.declared.label},
    )
    return files


def outputs_of(job):
    """What a job makes; its first file must not be empty."""
    files = plan.jobs.outputs(job.name)
    first = next(iter(files))
    files[first] = ensure(files[first], non_empty=True)
    return files if job.kind == "experiment" else caption_of(job, files)


for job in plan.declared():

    rule:
        name:
            job.name
        input:
            **job.inputs,
        output:
            **outputs_of(job),
        log:
            plan.log(job.name),
        benchmark:
            plan.benchmark(job.name)
        conda:
            "../envs/finitewidth.yaml"
        threads: 1
        resources:
            mem_mb=partial(plan.memory, job.name),
            runtime=partial(plan.minutes, job.name),
            gpu=plan.gpus(job.name),
        params:
            module=job.declared.module,
            code=plan.code(job.name),
            settings=partial(plan.params, job.name),
            on_device=plan.on_device(job.name),
            checkpoints=plan.checkpoints(job.name),
            seed=config["seed"] if job.kind == "experiment" else 0,
            footer=partial(plan.footer, job.name) if job.kind != "experiment" else "",
            mark=partial(plan.mark, job.name) if job.kind == "figure" else "",
        script:
            "../scripts/declared.py"


for paper in plan.papers:

    rule:
        name:
            paper.name
        input:
            plan.targets(paper.name),
        localrule: True
