# Figures, drawn from tables. A figure computes nothing: its rows are written beside it, as CSV.
for job in artifacts("figure"):
    files = plan.jobs.outputs(job.name)

    rule:
        """A figure, from tables"""
        name:
            job.name
        input:
            unpack(partial(inputs_of, job.name)),
        output:
            pdf=files["pdf"],
            png=report(
                files["png"],
                caption=os.path.abspath(plan.files.caption(job.name)),
                category=job.paper,
                labels={"artifact": job.declared.label},
            ),
            svg=files["svg"],
            csv=files["csv"],
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
            mark=partial(parameter, job.name, "mark"),
        script:
            "../scripts/figure.py"
