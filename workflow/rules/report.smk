# The report: pages that tell how far the papers hold, from results only. Included last, since it
# reads off the rules what feeds what.
from types import SimpleNamespace

from snakemake.io import apply_wildcards

from finitewidth.index import PAPERS
from finitewidth.report.assets import assets_digest


def told(rule, **wildcards):
    """The files a rule names, and the line below what it makes."""

    def named(files):
        return [
            apply_wildcards(file, wildcards) for file in files if isinstance(file, str)
        ]

    footer = rule.params.get("footer")
    return {
        "input": named(rule.input),
        "output": named(rule.output),
        "log": "".join(named(rule.log)),
        "benchmark": "".join(named([rule.benchmark])),
        "footer": footer if isinstance(footer, str) else "",
    }


def told_jobs():
    """Job -> its files: every rule without wildcards, and every training."""
    known = {made.name: made for made in workflow.rules}
    jobs = {name: told(made) for name, made in known.items() if not made.wildcard_names}
    for paper in PAPERS:
        for training in plan.training_names(paper):
            wildcards = {"paper": paper, "training": training}
            inputs = plan.training_inputs(SimpleNamespace(**wildcards)).values()
            jobs[f"train {paper}/{training}"] = {
                **told(known["train"], **wildcards),
                "input": list(inputs),
            }
    return jobs


report_params = {
    "settings": plan.report_settings(),
    "jobs": told_jobs(),
    "folder": f"{results}/report",
    "code": code_digest("finitewidth.report.job"),
    "assets": assets_digest(),
}


rule report:
    input:
        plan.targets(),
        plan.verdicts(),
        plan.captions(),
        citations="CITATION.cff",
    output:
        directory(f"{results}/report"),
    log:
        f"{results}/logs/report.log",
    benchmark:
        f"{results}/benchmarks/report.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        **report_params,
    script:
        "../scripts/report.py"


# the same of whatever results there are: `python -m finitewidth report`
rule report_now:
    log:
        f"{results}/logs/report.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        **report_params,
    script:
        "../scripts/report.py"
