# Monte Carlo: random networks at initialisation, or random data. Nothing is trained. Many tables have
# the exact moments beside the estimates.
#
# What an experiment computes is its `stage` in workflow/papers/<paper>.yaml. The reader of these files
# refuses a stage that contradicts the inputs: an experiment with trained networks among its inputs is
# in evaluation.smk.
for job in experiments("sampling"):

    rule:
        """Tables of random networks or random data"""
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
