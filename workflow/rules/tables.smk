# Tables, typeset from tables of experiments. A table computes nothing: its rows are written beside it,
# as CSV.
for job in artifacts("table"):
    files = plan.jobs.outputs(job.name)

    rule:
        """A table, typeset from tables"""
        name:
            job.name
        input:
            unpack(partial(inputs_of, job.name)),
        output:
            csv=files["csv"],
            md=report(
                files["md"],
                caption=os.path.abspath(plan.files.caption(job.name)),
                category=job.paper,
                labels={"artifact": job.declared.label},
            ),
            tex=files["tex"],
            provenance=f"{results}/provenance/{job.paper}/{job.name}.json",
        log:
            plan.files.log(job.name),
        benchmark:
            plan.files.benchmark(job.name)
        resources:
            **plan.requests.resources(job.name),
        params:
            module=job.declared.module,
            settings=partial(parameter, job.name, "settings"),
            footer=partial(parameter, job.name, "footer"),
        script:
            "../scripts/table.py"
