# Errata of the papers, computed where possible. docs/errata.md shows the table.
rule errata:
    output:
        errata=plan.errata(),
        provenance=f"{results}/errata/experiments/errata_provenance.json",
    log:
        f"{results}/logs/errata/errata.log",
    benchmark:
        f"{results}/benchmarks/errata/errata.tsv"
    conda:
        "../envs/finitewidth.yaml"
    threads: 1
    resources:
        mem_mb=partial(plan.memory, "errata"),
        runtime=partial(plan.minutes, "errata"),
    params:
        module="finitewidth.errata.table",
        on_device=False,
        checkpoints=None,
        seed=0,  # errata are checked on the same networks whatever the base seed
        code=plan.code_of(
            *plan.errata_modules(),
            "finitewidth.errata.table",
            "finitewidth.experiments.job",
            script="declared",
            texts=plan.errata_texts(),
        ),
        settings={**config["errata"], "papers": [paper.name for paper in plan.papers]},
    script:
        "../scripts/declared.py"
