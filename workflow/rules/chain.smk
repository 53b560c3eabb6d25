# Is everything what its job wrote, from today's settings and code? Included after all rules, which it
# reads.
from finitewidth.pipeline.chain import links_of, settle, verify, wildcards_of


# `finitewidth verify`
rule verify:
    log:
        f"{results}/logs/verify.log",
    localrule: True
    conda:
        "../envs/finitewidth.yaml"
    params:
        breaks=lambda wildcards: verify(links_of(workflow.rules, wildcards_of(plan))),
    script:
        "../scripts/verify.py"


# Results that Snakemake has no record of, such as copies from another clone, are accepted if the chain
# of their digests holds. The last statement of the workflow: the report depends on all rules.
if workflow.is_main_process:
    settle(links_of(workflow.rules, wildcards_of(plan)), ".snakemake/metadata")
