# Misprints of the papers, each computed: errata. No artifact of a paper; docs/errata.md shows it.


use rule experiment as errata_table with:
    output:
        errata=ensure(plan.errata(), non_empty=True),
        provenance=f"{results}/errata/experiments/errata_provenance.json",
    log:
        plan.log("errata_table"),
    benchmark:
        plan.benchmark("errata_table")
    params:
        **module("finitewidth.errata.table"),
        settings=config["errata"],
