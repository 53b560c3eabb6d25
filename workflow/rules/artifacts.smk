# What every experiment, figure and table rule inherits with `use rule`; each heir names its own
# inputs, outputs, log and params, and resources where it needs more at some preset. A failed job
# that is tried again (--retries) asks for more.


rule experiment:
    log:
        f"{results}/logs/experiment.log",
    benchmark:
        f"{results}/benchmarks/experiment.tsv"
    conda:
        "../envs/finitewidth.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    script:
        "../scripts/experiment.py"


rule figure:
    log:
        f"{results}/logs/figure.log",
    benchmark:
        f"{results}/benchmarks/figure.tsv"
    conda:
        "../envs/finitewidth.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1500 * attempt,
        runtime=lambda wildcards, attempt: 5 * attempt,
    script:
        "../scripts/figure.py"


rule table:
    log:
        f"{results}/logs/table.log",
    benchmark:
        f"{results}/benchmarks/table.tsv"
    conda:
        "../envs/finitewidth.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1500 * attempt,
        runtime=lambda wildcards, attempt: 5 * attempt,
    script:
        "../scripts/table.py"
