# The NTK beyond the infinite-width limit: beyond. The kernel at initialisation, drawn or computed.


use rule experiment as beyond_diagonal with:
    output:
        estimates=ensure(
            f"{results}/beyond/experiments/diagonal_estimates.csv", non_empty=True
        ),
        theory=f"{results}/beyond/experiments/diagonal_theory.csv",
        provenance=f"{results}/beyond/experiments/diagonal_provenance.json",
    log:
        f"{results}/logs/beyond/diagonal.log",
    benchmark:
        f"{results}/benchmarks/beyond/diagonal.tsv"
    params:
        module="finitewidth.experiments.beyond.diagonal",
        settings=config["beyond"]["diagonal"],
        code=code_digest(
            "finitewidth.experiments.beyond.diagonal", "finitewidth.experiments.job"
        ),


use rule experiment as beyond_off_diagonal with:
    output:
        estimates=ensure(
            f"{results}/beyond/experiments/off_diagonal_estimates.csv", non_empty=True
        ),
        theory=f"{results}/beyond/experiments/off_diagonal_theory.csv",
        provenance=f"{results}/beyond/experiments/off_diagonal_provenance.json",
    log:
        f"{results}/logs/beyond/off_diagonal.log",
    benchmark:
        f"{results}/benchmarks/beyond/off_diagonal.tsv"
    params:
        module="finitewidth.experiments.beyond.off_diagonal",
        settings=config["beyond"]["off_diagonal"],
        code=code_digest(
            "finitewidth.experiments.beyond.off_diagonal",
            "finitewidth.experiments.job",
        ),


use rule experiment as beyond_theory with:
    output:
        limits=ensure(f"{results}/beyond/experiments/theory_limits.csv", non_empty=True),
        architectures=f"{results}/beyond/experiments/theory_architectures.csv",
        drawings=f"{results}/beyond/experiments/theory_drawings.csv",
        provenance=f"{results}/beyond/experiments/theory_provenance.json",
    log:
        f"{results}/logs/beyond/theory.log",
    benchmark:
        f"{results}/benchmarks/beyond/theory.tsv"
    params:
        module="finitewidth.experiments.beyond.theory",
        settings={key: config["beyond"][key] for key in ("limits", "architectures")},
        code=code_digest(
            "finitewidth.experiments.beyond.theory", "finitewidth.experiments.job"
        ),


use rule experiment as beyond_theorem31 with:
    output:
        curves=ensure(
            f"{results}/beyond/experiments/theorem31_curves.csv", non_empty=True
        ),
        small=f"{results}/beyond/experiments/theorem31_small.csv",
        provenance=f"{results}/beyond/experiments/theorem31_provenance.json",
    log:
        f"{results}/logs/beyond/theorem31.log",
    benchmark:
        f"{results}/benchmarks/beyond/theorem31.tsv"
    params:
        module="finitewidth.experiments.beyond.theorem31",
        settings=config["beyond"]["theorem31"],
        code=code_digest(
            "finitewidth.experiments.beyond.theorem31", "finitewidth.experiments.job"
        ),


use rule figure as beyond_fig1 with:
    input:
        estimates=rules.beyond_diagonal.output.estimates,
        theory=rules.beyond_diagonal.output.theory,
    output:
        pdf=f"{results}/beyond/figures/beyond_fig1.pdf",
        png=report(
            f"{results}/beyond/figures/beyond_fig1.png",
            caption="../report/beyond_fig1.rst",
            category="beyond",
            labels={"artifact": "Figure 1"},
        ),
        svg=f"{results}/beyond/figures/beyond_fig1.svg",
        csv=f"{results}/beyond/figures/beyond_fig1.csv",
    log:
        f"{results}/logs/beyond/beyond_fig1.log",
    benchmark:
        f"{results}/benchmarks/beyond/beyond_fig1.tsv"
    params:
        module="finitewidth.figures.beyond.fig1",
        settings={"columns": "width", "errors": "bars", "exact": True},
        footer=plan.footer("beyond", ["diagonal"]),
        code=code_digest("finitewidth.figures.beyond.fig1", "finitewidth.figures.job"),


use rule figure as beyond_fig2 with:
    input:
        estimates=rules.beyond_diagonal.output.estimates,
        theory=rules.beyond_diagonal.output.theory,
    output:
        pdf=f"{results}/beyond/figures/beyond_fig2.pdf",
        png=report(
            f"{results}/beyond/figures/beyond_fig2.png",
            caption="../report/beyond_fig2.rst",
            category="beyond",
            labels={"artifact": "Figure 2"},
        ),
        svg=f"{results}/beyond/figures/beyond_fig2.svg",
        csv=f"{results}/beyond/figures/beyond_fig2.csv",
    log:
        f"{results}/logs/beyond/beyond_fig2.log",
    benchmark:
        f"{results}/benchmarks/beyond/beyond_fig2.tsv"
    params:
        module="finitewidth.figures.beyond.fig2",
        settings={"columns": "alpha_0", "errors": "bars", "exact": True},
        footer=plan.footer("beyond", ["diagonal"]),
        code=code_digest("finitewidth.figures.beyond.fig2", "finitewidth.figures.job"),


use rule figure as beyond_fig3 with:
    input:
        estimates=rules.beyond_off_diagonal.output.estimates,
        theory=rules.beyond_off_diagonal.output.theory,
    output:
        pdf=f"{results}/beyond/figures/beyond_fig3.pdf",
        png=report(
            f"{results}/beyond/figures/beyond_fig3.png",
            caption="../report/beyond_fig3.rst",
            category="beyond",
            labels={"artifact": "Figure 3"},
        ),
        svg=f"{results}/beyond/figures/beyond_fig3.svg",
        csv=f"{results}/beyond/figures/beyond_fig3.csv",
    log:
        f"{results}/logs/beyond/beyond_fig3.log",
    benchmark:
        f"{results}/benchmarks/beyond/beyond_fig3.tsv"
    params:
        module="finitewidth.figures.beyond.fig3",
        settings={"errors": "bars", "mean_field": False},
        footer=plan.footer("beyond", ["off_diagonal"]),
        code=code_digest("finitewidth.figures.beyond.fig3", "finitewidth.figures.job"),


use rule figure as beyond_fig5 with:
    input:
        limits=rules.beyond_theory.output.limits,
    output:
        pdf=f"{results}/beyond/figures/beyond_fig5.pdf",
        png=report(
            f"{results}/beyond/figures/beyond_fig5.png",
            caption="../report/beyond_fig5.rst",
            category="beyond",
            labels={"artifact": "Figure 5"},
        ),
        svg=f"{results}/beyond/figures/beyond_fig5.svg",
        csv=f"{results}/beyond/figures/beyond_fig5.csv",
    log:
        f"{results}/logs/beyond/beyond_fig5.log",
    benchmark:
        f"{results}/benchmarks/beyond/beyond_fig5.tsv"
    params:
        module="finitewidth.figures.beyond.fig5",
        settings={"corrected": True},
        footer=plan.footer("beyond", ["limits"]),
        code=code_digest("finitewidth.figures.beyond.fig5", "finitewidth.figures.job"),


use rule figure as beyond_fig6 with:
    input:
        architectures=rules.beyond_theory.output.architectures,
        drawings=rules.beyond_theory.output.drawings,
    output:
        pdf=f"{results}/beyond/figures/beyond_fig6.pdf",
        png=report(
            f"{results}/beyond/figures/beyond_fig6.png",
            caption="../report/beyond_fig6.rst",
            category="beyond",
            labels={"artifact": "Figure 6"},
        ),
        svg=f"{results}/beyond/figures/beyond_fig6.svg",
        csv=f"{results}/beyond/figures/beyond_fig6.csv",
    log:
        f"{results}/logs/beyond/beyond_fig6.log",
    benchmark:
        f"{results}/benchmarks/beyond/beyond_fig6.tsv"
    params:
        module="finitewidth.figures.beyond.fig6",
        settings={"exact": True},
        footer=plan.footer("beyond", ["architectures"]),
        code=code_digest("finitewidth.figures.beyond.fig6", "finitewidth.figures.job"),


use rule figure as beyond_fig7 with:
    input:
        estimates=rules.beyond_off_diagonal.output.estimates,
        theory=rules.beyond_off_diagonal.output.theory,
    output:
        pdf=f"{results}/beyond/figures/beyond_fig7.pdf",
        png=report(
            f"{results}/beyond/figures/beyond_fig7.png",
            caption="../report/beyond_fig7.rst",
            category="beyond",
            labels={"artifact": "Figure 7"},
        ),
        svg=f"{results}/beyond/figures/beyond_fig7.svg",
        csv=f"{results}/beyond/figures/beyond_fig7.csv",
    log:
        f"{results}/logs/beyond/beyond_fig7.log",
    benchmark:
        f"{results}/benchmarks/beyond/beyond_fig7.tsv"
    params:
        module="finitewidth.figures.beyond.fig7",
        settings={"columns": "width", "errors": "bars", "exact": True},
        footer=plan.footer("beyond", ["off_diagonal"]),
        code=code_digest("finitewidth.figures.beyond.fig7", "finitewidth.figures.job"),


use rule figure as beyond_fig8 with:
    input:
        estimates=rules.beyond_off_diagonal.output.estimates,
        theory=rules.beyond_off_diagonal.output.theory,
    output:
        pdf=f"{results}/beyond/figures/beyond_fig8.pdf",
        png=report(
            f"{results}/beyond/figures/beyond_fig8.png",
            caption="../report/beyond_fig8.rst",
            category="beyond",
            labels={"artifact": "Figure 8"},
        ),
        svg=f"{results}/beyond/figures/beyond_fig8.svg",
        csv=f"{results}/beyond/figures/beyond_fig8.csv",
    log:
        f"{results}/logs/beyond/beyond_fig8.log",
    benchmark:
        f"{results}/benchmarks/beyond/beyond_fig8.tsv"
    params:
        module="finitewidth.figures.beyond.fig8",
        settings={"columns": "alpha_0", "errors": "bars", "exact": True},
        footer=plan.footer("beyond", ["off_diagonal"]),
        code=code_digest("finitewidth.figures.beyond.fig8", "finitewidth.figures.job"),


use rule figure as beyond_fig9 with:
    input:
        estimates=rules.beyond_diagonal.output.estimates,
        theory=rules.beyond_diagonal.output.theory,
    output:
        pdf=f"{results}/beyond/figures/beyond_fig9.pdf",
        png=report(
            f"{results}/beyond/figures/beyond_fig9.png",
            caption="../report/beyond_fig9.rst",
            category="beyond",
            labels={"artifact": "Figure 9"},
        ),
        svg=f"{results}/beyond/figures/beyond_fig9.svg",
        csv=f"{results}/beyond/figures/beyond_fig9.csv",
    log:
        f"{results}/logs/beyond/beyond_fig9.log",
    benchmark:
        f"{results}/benchmarks/beyond/beyond_fig9.tsv"
    params:
        module="finitewidth.figures.beyond.fig9",
        settings={"columns": "width", "errors": "bands", "exact": True},
        footer=plan.footer("beyond", ["diagonal"]),
        code=code_digest("finitewidth.figures.beyond.fig9", "finitewidth.figures.job"),


use rule figure as beyond_fig10 with:
    input:
        estimates=rules.beyond_diagonal.output.estimates,
        theory=rules.beyond_diagonal.output.theory,
    output:
        pdf=f"{results}/beyond/figures/beyond_fig10.pdf",
        png=report(
            f"{results}/beyond/figures/beyond_fig10.png",
            caption="../report/beyond_fig10.rst",
            category="beyond",
            labels={"artifact": "Figure 10"},
        ),
        svg=f"{results}/beyond/figures/beyond_fig10.svg",
        csv=f"{results}/beyond/figures/beyond_fig10.csv",
    log:
        f"{results}/logs/beyond/beyond_fig10.log",
    benchmark:
        f"{results}/benchmarks/beyond/beyond_fig10.tsv"
    params:
        module="finitewidth.figures.beyond.fig10",
        settings={"columns": "alpha_0", "errors": "bands", "exact": True},
        footer=plan.footer("beyond", ["diagonal"]),
        code=code_digest("finitewidth.figures.beyond.fig10", "finitewidth.figures.job"),


use rule figure as beyond_fig11 with:
    input:
        estimates=rules.beyond_off_diagonal.output.estimates,
        theory=rules.beyond_off_diagonal.output.theory,
    output:
        pdf=f"{results}/beyond/figures/beyond_fig11.pdf",
        png=report(
            f"{results}/beyond/figures/beyond_fig11.png",
            caption="../report/beyond_fig11.rst",
            category="beyond",
            labels={"artifact": "Figure 11"},
        ),
        svg=f"{results}/beyond/figures/beyond_fig11.svg",
        csv=f"{results}/beyond/figures/beyond_fig11.csv",
    log:
        f"{results}/logs/beyond/beyond_fig11.log",
    benchmark:
        f"{results}/benchmarks/beyond/beyond_fig11.tsv"
    params:
        module="finitewidth.figures.beyond.fig11",
        settings={"errors": "bands", "mean_field": True},
        footer=plan.footer("beyond", ["off_diagonal"]),
        code=code_digest("finitewidth.figures.beyond.fig11", "finitewidth.figures.job"),


use rule figure as beyond_extra_theorem31 with:
    input:
        curves=rules.beyond_theorem31.output.curves,
        small=rules.beyond_theorem31.output.small,
    output:
        pdf=f"{results}/beyond/figures/beyond_extra_theorem31.pdf",
        png=report(
            f"{results}/beyond/figures/beyond_extra_theorem31.png",
            caption="../report/beyond_extra_theorem31.rst",
            category="beyond",
            labels={"artifact": "Extra: Theorem 3.1"},
        ),
        svg=f"{results}/beyond/figures/beyond_extra_theorem31.svg",
        csv=f"{results}/beyond/figures/beyond_extra_theorem31.csv",
    log:
        f"{results}/logs/beyond/beyond_extra_theorem31.log",
    benchmark:
        f"{results}/benchmarks/beyond/beyond_extra_theorem31.tsv"
    params:
        module="finitewidth.figures.beyond.extra_theorem31",
        settings={},
        footer=plan.footer("beyond", ["theorem31"]),
        code=code_digest(
            "finitewidth.figures.beyond.extra_theorem31", "finitewidth.figures.job"
        ),


rule beyond:
    input:
        plan.targets("beyond"),
    localrule: True
