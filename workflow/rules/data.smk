# Datasets: bundled with a package, fetched, or images of the user. Each becomes one verified .npz, which
# all presets share.


rule dataset:
    """A dataset as one verified file"""
    input:
        unpack(lambda wildcards: inputs_of(f"dataset {wildcards.source}")),
    output:
        data="results/data/{source}.npz",
        provenance="results/data/provenance/{source}.json",
    log:
        "results/data/logs/{source}.log",
    benchmark:
        "results/data/benchmarks/{source}.tsv"
    resources:
        **plan.requests.resources("dataset"),
    params:
        source="{source}",
        tree=lambda wildcards: parameter(f"dataset {wildcards.source}", "tree"),
    script:
        "../scripts/dataset.py"
