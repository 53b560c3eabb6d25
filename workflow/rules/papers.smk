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


def told(job):
    """What the rule of an experiment or an artifact is told."""
    keys = {"experiment": ["seed"], "figure": ["footer", "mark"], "table": ["footer"]}
    told = {
        key: partial(parameter, job.name, key)
        for key in ["module", "settings", *keys[job.kind]]
    }
    if job.kind == "experiment":
        told["on_device"] = plan.on_device(job.name)
        if job.declared.resumes:
            told["checkpoints"] = f"{results}/.checkpoints"
    return told


for job in plan.declared():

    rule:
        name:
            job.name
        input:
            unpack(partial(inputs_of, job.name)),
        output:
            **outputs_of(job),
        log:
            plan.log(job.name),
        benchmark:
            plan.benchmark(job.name)
        resources:
            **plan.requests.of(job.name),
            gpu=plan.gpus * plan.on_device(job.name),
        params:
            **told(job),
        script:
            "../scripts/declared.py"


for paper in plan.papers:

    rule:
        name:
            paper.name
        input:
            plan.targets(paper.name),
        localrule: True
