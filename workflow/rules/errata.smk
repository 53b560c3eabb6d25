# Errata of the papers, computed where possible. docs/errata.md shows the table.


rule errata:
    """Errata of the papers, computed where possible"""
    input:
        unpack(partial(inputs_of, "errata")),
    output:
        errata=plan.files.errata,
        provenance=f"{results}/errata/experiments/errata_provenance.json",
    log:
        plan.files.log("errata"),
    benchmark:
        plan.files.benchmark("errata")
    resources:
        **plan.requests.resources("errata"),
    params:
        module=partial(parameter, "errata", "module"),
        seed=partial(parameter, "errata", "seed"),
        settings=partial(parameter, "errata", "settings"),
    script:
        "../scripts/experiment.py"
