# Bundled, fetched or found: every dataset becomes one verified .npz, shared by all presets.


rule dataset:
    output:
        data=ensure("results/data/{source}.npz", non_empty=True),
    log:
        "results/data/logs/{source}.log",
    benchmark:
        "results/data/benchmarks/{source}.tsv"
    conda:
        "../envs/finitewidth.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        tree=plan.tree,
        code=code_digest("finitewidth.data.build"),
    script:
        "../scripts/dataset.py"
