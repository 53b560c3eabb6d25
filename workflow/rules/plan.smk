# What a run will cost, before it runs:  snakemake --cores 1 plan --config preset=paper


rule plan:
    log:
        f"{results}/logs/plan.log",
    localrule: True
    conda:
        "../envs/finitewidth.yaml"
    params:
        rules=plan.graph(workflow.rules),
        gpu_tflops=config["gpu_tflops"],
    script:
        "../scripts/plan.py"
