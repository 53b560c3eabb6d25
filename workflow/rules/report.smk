# The report: pages that tell how far the papers hold, from results only. Included last, since it
# reads off the rules what feeds what.
from finitewidth.report.build import assets_digest

report_params = {
    "settings": plan.report_settings,
    "jobs": lambda wildcards: plan.report_jobs(rules_by_name()),
    "code": plan.code_of(
        "finitewidth.report.job", script="report", texts=["CITATION.cff"]
    ),
    "assets": assets_digest(),
}


rule report:
    input:
        plan.targets(),
        plan.verdicts(),
        plan.errata(),
        plan.captions(),
        rules.datapackages.output,
        citations=in_project("CITATION.cff"),
    output:
        pages=directory(f"{results}/report"),
        provenance=f"{results}/provenance/report.json",
    log:
        f"{results}/logs/report.log",
    benchmark:
        f"{results}/benchmarks/report.tsv"
    conda:
        "../envs/finitewidth.yaml"
    resources:
        mem_mb=partial(plan.requests.memory, "report"),
        runtime=partial(plan.requests.minutes, "report"),
    params:
        **report_params,
    script:
        "../scripts/report.py"


# the same of whatever results there are: `python -m finitewidth report`
rule report_now:
    log:
        f"{results}/logs/report.log",
    conda:
        "../envs/finitewidth.yaml"
    resources:
        mem_mb=partial(plan.requests.memory, "report"),
        runtime=partial(plan.requests.minutes, "report"),
    params:
        **report_params,
        pages=rules.report.output.pages,
        provenance=rules.report.output.provenance,
    script:
        "../scripts/report.py"
