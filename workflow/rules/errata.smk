# Errata of the papers, computed where possible. docs/errata.md shows the table.


rule errata:
    output:
        errata=plan.errata,
        provenance=f"{results}/errata/experiments/errata_provenance.json",
    log:
        f"{results}/logs/errata/errata.log",
    benchmark:
        f"{results}/benchmarks/errata/errata.tsv"
    resources:
        **plan.requests.of("errata"),
    params:
        module="finitewidth.errata.table",
        seed=0,  # errata are checked on the same networks whatever the base seed
        code=plan.errata_code(),
        settings={**config["errata"], "papers": list(plan.captioned)},
    script:
        "../scripts/declared.py"
