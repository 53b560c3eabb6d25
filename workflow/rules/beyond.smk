# The NTK beyond the infinite-width limit: beyond. The kernel at initialisation, drawn or computed.


use rule experiment as beyond_diagonal with:
    output:
        estimates=ensure(
            f"{results}/beyond/experiments/diagonal_estimates.csv", non_empty=True
        ),
        theory=f"{results}/beyond/experiments/diagonal_theory.csv",
        provenance=f"{results}/beyond/experiments/diagonal_provenance.json",
    log:
        plan.log("beyond_diagonal"),
    benchmark:
        plan.benchmark("beyond_diagonal")
    params:
        **module("finitewidth.experiments.beyond.diagonal"),
        settings=config["beyond"]["diagonal"],


use rule experiment as beyond_off_diagonal with:
    output:
        estimates=ensure(
            f"{results}/beyond/experiments/off_diagonal_estimates.csv", non_empty=True
        ),
        theory=f"{results}/beyond/experiments/off_diagonal_theory.csv",
        provenance=f"{results}/beyond/experiments/off_diagonal_provenance.json",
    log:
        plan.log("beyond_off_diagonal"),
    benchmark:
        plan.benchmark("beyond_off_diagonal")
    params:
        **module("finitewidth.experiments.beyond.off_diagonal"),
        settings=config["beyond"]["off_diagonal"],


use rule experiment as beyond_theory with:
    output:
        limits=ensure(f"{results}/beyond/experiments/theory_limits.csv", non_empty=True),
        architectures=f"{results}/beyond/experiments/theory_architectures.csv",
        drawings=f"{results}/beyond/experiments/theory_drawings.csv",
        provenance=f"{results}/beyond/experiments/theory_provenance.json",
    log:
        plan.log("beyond_theory"),
    benchmark:
        plan.benchmark("beyond_theory")
    params:
        **module("finitewidth.experiments.beyond.theory"),
        settings={key: config["beyond"][key] for key in ("limits", "architectures")},


use rule experiment as beyond_theorem31 with:
    output:
        curves=ensure(
            f"{results}/beyond/experiments/theorem31_curves.csv", non_empty=True
        ),
        small=f"{results}/beyond/experiments/theorem31_small.csv",
        provenance=f"{results}/beyond/experiments/theorem31_provenance.json",
    log:
        plan.log("beyond_theorem31"),
    benchmark:
        plan.benchmark("beyond_theorem31")
    params:
        **module("finitewidth.experiments.beyond.theorem31"),
        settings=config["beyond"]["theorem31"],


# no figure shows these; claims read them
use rule experiment as beyond_lemmas with:
    output:
        moments=ensure(
            f"{results}/beyond/experiments/lemmas_moments.csv", non_empty=True
        ),
        steps=f"{results}/beyond/experiments/lemmas_steps.csv",
        estimators=f"{results}/beyond/experiments/lemmas_estimators.csv",
        provenance=f"{results}/beyond/experiments/lemmas_provenance.json",
    log:
        plan.log("beyond_lemmas"),
    benchmark:
        plan.benchmark("beyond_lemmas")
    params:
        **module("finitewidth.experiments.beyond.lemmas"),
        settings={
            key: config["beyond"][key] for key in ("moments", "steps", "estimators")
        },


use rule figure as beyond_fig1 with:
    input:
        estimates=rules.beyond_diagonal.output.estimates,
        theory=rules.beyond_diagonal.output.theory,
    output:
        **files_of("beyond_fig1"),
    log:
        plan.log("beyond_fig1"),
    benchmark:
        plan.benchmark("beyond_fig1")
    params:
        **module("finitewidth.figures.beyond.fig1"),
        settings={"columns": "width", "errors": "bars", "exact": True},
        footer=plan.footer("beyond", ["diagonal"]),


use rule figure as beyond_fig2 with:
    input:
        estimates=rules.beyond_diagonal.output.estimates,
        theory=rules.beyond_diagonal.output.theory,
    output:
        **files_of("beyond_fig2"),
    log:
        plan.log("beyond_fig2"),
    benchmark:
        plan.benchmark("beyond_fig2")
    params:
        **module("finitewidth.figures.beyond.fig2"),
        settings={"columns": "alpha_0", "errors": "bars", "exact": True},
        footer=plan.footer("beyond", ["diagonal"]),


use rule figure as beyond_fig3 with:
    input:
        estimates=rules.beyond_off_diagonal.output.estimates,
        theory=rules.beyond_off_diagonal.output.theory,
    output:
        **files_of("beyond_fig3"),
    log:
        plan.log("beyond_fig3"),
    benchmark:
        plan.benchmark("beyond_fig3")
    params:
        **module("finitewidth.figures.beyond.fig3"),
        settings={"errors": "bars", "mean_field": False},
        footer=plan.footer("beyond", ["off_diagonal"]),


use rule figure as beyond_fig5 with:
    input:
        limits=rules.beyond_theory.output.limits,
    output:
        **files_of("beyond_fig5"),
    log:
        plan.log("beyond_fig5"),
    benchmark:
        plan.benchmark("beyond_fig5")
    params:
        **module("finitewidth.figures.beyond.fig5"),
        settings={"corrected": True},
        footer=plan.footer("beyond", ["limits"]),


use rule figure as beyond_fig6 with:
    input:
        architectures=rules.beyond_theory.output.architectures,
        drawings=rules.beyond_theory.output.drawings,
    output:
        **files_of("beyond_fig6"),
    log:
        plan.log("beyond_fig6"),
    benchmark:
        plan.benchmark("beyond_fig6")
    params:
        **module("finitewidth.figures.beyond.fig6"),
        settings={"exact": True},
        footer=plan.footer("beyond", ["architectures"]),


use rule figure as beyond_fig7 with:
    input:
        estimates=rules.beyond_off_diagonal.output.estimates,
        theory=rules.beyond_off_diagonal.output.theory,
    output:
        **files_of("beyond_fig7"),
    log:
        plan.log("beyond_fig7"),
    benchmark:
        plan.benchmark("beyond_fig7")
    params:
        **module("finitewidth.figures.beyond.fig7"),
        settings={"columns": "width", "errors": "bars", "exact": True},
        footer=plan.footer("beyond", ["off_diagonal"]),


use rule figure as beyond_fig8 with:
    input:
        estimates=rules.beyond_off_diagonal.output.estimates,
        theory=rules.beyond_off_diagonal.output.theory,
    output:
        **files_of("beyond_fig8"),
    log:
        plan.log("beyond_fig8"),
    benchmark:
        plan.benchmark("beyond_fig8")
    params:
        **module("finitewidth.figures.beyond.fig8"),
        settings={"columns": "alpha_0", "errors": "bars", "exact": True},
        footer=plan.footer("beyond", ["off_diagonal"]),


use rule figure as beyond_fig9 with:
    input:
        estimates=rules.beyond_diagonal.output.estimates,
        theory=rules.beyond_diagonal.output.theory,
    output:
        **files_of("beyond_fig9"),
    log:
        plan.log("beyond_fig9"),
    benchmark:
        plan.benchmark("beyond_fig9")
    params:
        **module("finitewidth.figures.beyond.fig9"),
        settings={"columns": "width", "errors": "bands", "exact": True},
        footer=plan.footer("beyond", ["diagonal"]),


use rule figure as beyond_fig10 with:
    input:
        estimates=rules.beyond_diagonal.output.estimates,
        theory=rules.beyond_diagonal.output.theory,
    output:
        **files_of("beyond_fig10"),
    log:
        plan.log("beyond_fig10"),
    benchmark:
        plan.benchmark("beyond_fig10")
    params:
        **module("finitewidth.figures.beyond.fig10"),
        settings={"columns": "alpha_0", "errors": "bands", "exact": True},
        footer=plan.footer("beyond", ["diagonal"]),


use rule figure as beyond_fig11 with:
    input:
        estimates=rules.beyond_off_diagonal.output.estimates,
        theory=rules.beyond_off_diagonal.output.theory,
    output:
        **files_of("beyond_fig11"),
    log:
        plan.log("beyond_fig11"),
    benchmark:
        plan.benchmark("beyond_fig11")
    params:
        **module("finitewidth.figures.beyond.fig11"),
        settings={"errors": "bands", "mean_field": True},
        footer=plan.footer("beyond", ["off_diagonal"]),


use rule figure as beyond_extra_theorem31 with:
    input:
        curves=rules.beyond_theorem31.output.curves,
        small=rules.beyond_theorem31.output.small,
    output:
        **files_of("beyond_extra_theorem31"),
    log:
        plan.log("beyond_extra_theorem31"),
    benchmark:
        plan.benchmark("beyond_extra_theorem31")
    params:
        **module("finitewidth.figures.beyond.extra_theorem31"),
        settings={},
        footer=plan.footer("beyond", ["theorem31"]),


rule beyond:
    input:
        plan.targets("beyond"),
    localrule: True
