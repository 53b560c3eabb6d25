# Trained networks measured: accuracies, tangent and path kernels, nu, neural collapse. At least one
# input comes from training.smk, or is a table of this file.
for job in experiments("evaluation"):

    rule:
        """Tables of trained networks"""
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
            checkpoints=checkpoint_folder if job.declared.resumes else None,
        script:
            "../scripts/experiment.py"
