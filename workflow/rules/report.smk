# The report: pages that tell how far the papers hold, from results only. Included last, since it
# reads off the rules what feeds what.
from finitewidth.report.build import assets_digest


rule report:
    input:
        plan.targets(),
        plan.verdicts(),
        plan.errata,
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
    resources:
        **plan.requests.of("report"),
    params:
        settings=plan.report_settings,
        jobs=lambda wildcards: plan.report_jobs(rules_by_name()),
        code=plan.code_of(
            "finitewidth.report.job", script="report", texts=["CITATION.cff"]
        ),
        assets=assets_digest(),
    script:
        "../scripts/report.py"


# the same of whatever results there are: `python -m finitewidth report`
rule report_now:
    log:
        f"{results}/logs/report.log",
    resources:
        **plan.requests.of("report"),
    params:
        **dict(rules.report.params.items()),
    script:
        "../scripts/report.py"
