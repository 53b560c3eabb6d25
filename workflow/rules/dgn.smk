# Deep gated networks: dgn.


use rule experiment as dgn_theory with:
    output:
        fits=ensure(f"{results}/dgn/experiments/theory_fits.csv", non_empty=True),
        identities=f"{results}/dgn/experiments/theory_identities.csv",
        provenance=f"{results}/dgn/experiments/theory_provenance.json",
    log:
        plan.log("dgn_theory"),
    benchmark:
        plan.benchmark("dgn_theory")
    params:
        **module("finitewidth.experiments.dgn.theory"),
        settings=config["dgn"]["theory"],


rule dgn:
    input:
        plan.targets("dgn"),
    localrule: True
