# The report: pages that tell how far the papers hold, from results only.


rule report:
    """The report: pages that tell how far the papers hold"""
    input:
        unpack(partial(inputs_of, "report")),
    output:
        pages=directory(f"{results}/report"),
        provenance=f"{results}/provenance/report.json",
    log:
        plan.files.log("report"),
    benchmark:
        plan.files.benchmark("report")
    resources:
        **plan.requests.resources("report"),
    params:
        settings=partial(parameter, "report", "settings"),
        jobs=partial(parameter, "report", "jobs"),
    script:
        "../scripts/report.py"


# the same of whatever results there are: `finitewidth report`
rule report_now:
    """The report, from whatever results there are (finitewidth report)"""
    log:
        plan.files.log("report_now"),
    resources:
        **plan.requests.resources("report"),
    params:
        settings=partial(parameter, "report", "settings"),
        jobs=partial(parameter, "report", "jobs"),
        outdated=lambda wildcards: {
            entry.artifact: job_plans.reasons(entry.artifact)
            for entry in plan.artifacts
        },
    script:
        "../scripts/report.py"
