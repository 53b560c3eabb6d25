# What every experiment, figure and table rule inherits with `use rule`; each heir names its own
# inputs, outputs, log and params.


rule experiment:
    log:
        f"{results}/logs/experiment.log",
    benchmark:
        f"{results}/benchmarks/experiment.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=120,
    script:
        "../scripts/experiment.py"


rule figure:
    log:
        f"{results}/logs/figure.log",
    benchmark:
        f"{results}/benchmarks/figure.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    script:
        "../scripts/figure.py"


rule table:
    log:
        f"{results}/logs/table.log",
    benchmark:
        f"{results}/benchmarks/table.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    script:
        "../scripts/table.py"
