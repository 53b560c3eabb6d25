# Errata of the papers, computed where possible. docs/errata.md shows the table.
from finitewidth.common.paper_files import modules_of, text_file

errata_papers = [paper.name for paper in plan.papers]


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
    resources:
        mem_mb=partial(plan.requests.memory, "errata"),
        runtime=partial(plan.requests.minutes, "errata"),
    params:
        module="finitewidth.errata.table",
        on_device=False,
        checkpoints=None,
        seed=0,  # errata are checked on the same networks whatever the base seed
        code=plan.code_of(
            *(each for paper in errata_papers for each in modules_of(paper, "errata")),
            "finitewidth.errata.table",
            "finitewidth.experiments.job",
            script="declared",
            texts=[
                file
                for paper in errata_papers
                for file in map(partial(text_file, paper), ("errata", "text"))
                if file
            ],
        ),
        settings={**config["errata"], "papers": errata_papers},
    script:
        "../scripts/declared.py"
