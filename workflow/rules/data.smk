# Bundled, fetched or found: every dataset becomes one verified .npz, shared by all presets.


rule dataset:
    output:
        data="results/data/{source}.npz",
        provenance="results/data/provenance/{source}.json",
    log:
        "results/data/logs/{source}.log",
    benchmark:
        "results/data/benchmarks/{source}.tsv"
    resources:
        **plan.requests.of("dataset"),
    params:
        tree=plan.tree,
        code=plan.code_of("finitewidth.data.build", script="dataset"),
    script:
        "../scripts/dataset.py"
