# Formulas, limits of infinite width, and the concepts that a paper explains: nothing is drawn, nothing
# is trained.
for job in experiments("theory"):

    rule:
        """Tables of exact numbers"""
        name:
            job.name
        input:
            unpack(partial(inputs_of, job.name)),
        output:
            **plan.jobs.outputs(job.name),
        log:
            plan.files.log(job.name),
        benchmark:
            plan.files.benchmark(job.name)
        resources:
            **plan.requests.resources(job.name),
        params:
            module=job.declared.module,
            settings=partial(parameter, job.name, "settings"),
            seed=config["seed"],
        script:
            "../scripts/experiment.py"
