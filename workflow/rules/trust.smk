# Can we trust NTK theory: trust. The kernel at initialisation, drawn exactly or computed.


use rule experiment as trust_widths with:
    output:
        cells=ensure(f"{results}/trust/experiments/widths.csv", non_empty=True),
        borders=f"{results}/trust/experiments/widths_borders.csv",
        provenance=f"{results}/trust/experiments/widths_provenance.json",
    log:
        plan.log("trust_widths"),
    benchmark:
        plan.benchmark("trust_widths")
    params:
        **module("finitewidth.experiments.trust.heat"),
        settings=config["trust"]["heat_widths"],


use rule experiment as trust_biases with:
    output:
        cells=ensure(f"{results}/trust/experiments/biases.csv", non_empty=True),
        borders=f"{results}/trust/experiments/biases_borders.csv",
        provenance=f"{results}/trust/experiments/biases_provenance.json",
    log:
        plan.log("trust_biases"),
    benchmark:
        plan.benchmark("trust_biases")
    params:
        **module("finitewidth.experiments.trust.heat"),
        settings=config["trust"]["heat_biases"],


use rule experiment as trust_depth with:
    output:
        curves=ensure(f"{results}/trust/experiments/depth.csv", non_empty=True),
        limits=f"{results}/trust/experiments/depth_limits.csv",
        provenance=f"{results}/trust/experiments/depth_provenance.json",
    log:
        plan.log("trust_depth"),
    benchmark:
        plan.benchmark("trust_depth")
    params:
        **module("finitewidth.experiments.trust.depth"),
        settings=config["trust"]["depth"],


use rule experiment as trust_mean_field with:
    output:
        kappa=ensure(f"{results}/trust/experiments/mean_field.csv", non_empty=True),
        provenance=f"{results}/trust/experiments/mean_field_provenance.json",
    log:
        plan.log("trust_mean_field"),
    benchmark:
        plan.benchmark("trust_mean_field")
    params:
        **module("finitewidth.experiments.trust.mean_field"),
        settings=config["trust"]["mean_field"],


# Theorem 5.3; no figure shows it, claims read it
use rule experiment as trust_solutions with:
    output:
        solutions=ensure(f"{results}/trust/experiments/solutions.csv", non_empty=True),
        provenance=f"{results}/trust/experiments/solutions_provenance.json",
    log:
        plan.log("trust_solutions"),
    benchmark:
        plan.benchmark("trust_solutions")
    params:
        **module("finitewidth.experiments.trust.solutions"),
        settings=config["trust"]["solutions"],


use rule figure as trust_fig1 with:
    input:
        cells=rules.trust_widths.output.cells,
        borders=rules.trust_widths.output.borders,
    output:
        **files_of("trust_fig1"),
    log:
        plan.log("trust_fig1"),
    benchmark:
        plan.benchmark("trust_fig1")
    params:
        **module("finitewidth.figures.trust.heat"),
        settings={"sample": "ours"},
        footer=plan.footer("trust", ["widths"]),


use rule figure as trust_fig2 with:
    input:
        curves=rules.trust_depth.output.curves,
        limits=rules.trust_depth.output.limits,
    output:
        **files_of("trust_fig2"),
    log:
        plan.log("trust_fig2"),
    benchmark:
        plan.benchmark("trust_fig2")
    params:
        **module("finitewidth.figures.trust.fig2"),
        settings={"paper_draws": True, "limits": True},
        footer=plan.footer("trust", ["depth"]),


use rule figure as trust_fig5 with:
    input:
        kappa=rules.trust_mean_field.output.kappa,
    output:
        **files_of("trust_fig5"),
    log:
        plan.log("trust_fig5"),
    benchmark:
        plan.benchmark("trust_fig5")
    params:
        **module("finitewidth.figures.trust.kappa"),
        settings={"show": "log_kappa_2"},
        footer=plan.footer("trust", ["mean_field"]),


use rule figure as trust_fig6 with:
    input:
        kappa=rules.trust_mean_field.output.kappa,
    output:
        **files_of("trust_fig6"),
    log:
        plan.log("trust_fig6"),
    benchmark:
        plan.benchmark("trust_fig6")
    params:
        **module("finitewidth.figures.trust.kappa"),
        settings={"show": "log_ratio"},
        footer=plan.footer("trust", ["mean_field"]),


use rule figure as trust_fig7 with:
    input:
        cells=rules.trust_biases.output.cells,
        borders=rules.trust_biases.output.borders,
    output:
        **files_of("trust_fig7"),
    log:
        plan.log("trust_fig7"),
    benchmark:
        plan.benchmark("trust_fig7")
    params:
        **module("finitewidth.figures.trust.heat"),
        settings={"sample": "ours"},
        footer=plan.footer("trust", ["biases"]),


rule trust:
    input:
        plan.targets("trust"),
    localrule: True
