# Can we trust NTK theory: trust. The kernel at initialisation, drawn exactly or computed.


use rule experiment as trust_widths with:
    output:
        cells=ensure(f"{results}/trust/experiments/widths.csv", non_empty=True),
        borders=f"{results}/trust/experiments/widths_borders.csv",
        provenance=f"{results}/trust/experiments/widths_provenance.json",
    log:
        f"{results}/logs/trust/widths.log",
    benchmark:
        f"{results}/benchmarks/trust/widths.tsv"
    params:
        module="finitewidth.experiments.trust.heat",
        settings=config["trust"]["widths"],
        code=code_digest(
            "finitewidth.experiments.trust.heat", "finitewidth.experiments.job"
        ),


use rule experiment as trust_biases with:
    output:
        cells=ensure(f"{results}/trust/experiments/biases.csv", non_empty=True),
        borders=f"{results}/trust/experiments/biases_borders.csv",
        provenance=f"{results}/trust/experiments/biases_provenance.json",
    log:
        f"{results}/logs/trust/biases.log",
    benchmark:
        f"{results}/benchmarks/trust/biases.tsv"
    params:
        module="finitewidth.experiments.trust.heat",
        settings=config["trust"]["biases"],
        code=code_digest(
            "finitewidth.experiments.trust.heat", "finitewidth.experiments.job"
        ),


use rule experiment as trust_depth with:
    output:
        curves=ensure(f"{results}/trust/experiments/depth.csv", non_empty=True),
        limits=f"{results}/trust/experiments/depth_limits.csv",
        provenance=f"{results}/trust/experiments/depth_provenance.json",
    log:
        f"{results}/logs/trust/depth.log",
    benchmark:
        f"{results}/benchmarks/trust/depth.tsv"
    params:
        module="finitewidth.experiments.trust.depth",
        settings=config["trust"]["depth"],
        code=code_digest(
            "finitewidth.experiments.trust.depth", "finitewidth.experiments.job"
        ),


use rule experiment as trust_mean_field with:
    output:
        kappa=ensure(f"{results}/trust/experiments/mean_field.csv", non_empty=True),
        provenance=f"{results}/trust/experiments/mean_field_provenance.json",
    log:
        f"{results}/logs/trust/mean_field.log",
    benchmark:
        f"{results}/benchmarks/trust/mean_field.tsv"
    params:
        module="finitewidth.experiments.trust.mean_field",
        settings=config["trust"]["mean_field"],
        code=code_digest(
            "finitewidth.experiments.trust.mean_field", "finitewidth.experiments.job"
        ),


use rule figure as trust_fig1 with:
    input:
        cells=rules.trust_widths.output.cells,
        borders=rules.trust_widths.output.borders,
    output:
        pdf=f"{results}/trust/figures/trust_fig1.pdf",
        png=report(
            f"{results}/trust/figures/trust_fig1.png",
            caption="../report/trust_fig1.rst",
            category="trust",
            labels={"artifact": "Figure 1"},
        ),
        svg=f"{results}/trust/figures/trust_fig1.svg",
        csv=f"{results}/trust/figures/trust_fig1.csv",
    log:
        f"{results}/logs/trust/trust_fig1.log",
    benchmark:
        f"{results}/benchmarks/trust/trust_fig1.tsv"
    params:
        module="finitewidth.figures.trust.heat",
        settings={"sample": "ours"},
        footer=plan.footer("trust", ["widths"]),
        code=code_digest("finitewidth.figures.trust.heat", "finitewidth.figures.job"),


use rule figure as trust_fig2 with:
    input:
        curves=rules.trust_depth.output.curves,
        limits=rules.trust_depth.output.limits,
    output:
        pdf=f"{results}/trust/figures/trust_fig2.pdf",
        png=report(
            f"{results}/trust/figures/trust_fig2.png",
            caption="../report/trust_fig2.rst",
            category="trust",
            labels={"artifact": "Figure 2"},
        ),
        svg=f"{results}/trust/figures/trust_fig2.svg",
        csv=f"{results}/trust/figures/trust_fig2.csv",
    log:
        f"{results}/logs/trust/trust_fig2.log",
    benchmark:
        f"{results}/benchmarks/trust/trust_fig2.tsv"
    params:
        module="finitewidth.figures.trust.fig2",
        settings={"paper_draws": True, "limits": True},
        footer=plan.footer("trust", ["depth"]),
        code=code_digest("finitewidth.figures.trust.fig2", "finitewidth.figures.job"),


use rule figure as trust_fig5 with:
    input:
        kappa=rules.trust_mean_field.output.kappa,
    output:
        pdf=f"{results}/trust/figures/trust_fig5.pdf",
        png=report(
            f"{results}/trust/figures/trust_fig5.png",
            caption="../report/trust_fig5.rst",
            category="trust",
            labels={"artifact": "Figure 5"},
        ),
        svg=f"{results}/trust/figures/trust_fig5.svg",
        csv=f"{results}/trust/figures/trust_fig5.csv",
    log:
        f"{results}/logs/trust/trust_fig5.log",
    benchmark:
        f"{results}/benchmarks/trust/trust_fig5.tsv"
    params:
        module="finitewidth.figures.trust.kappa",
        settings={"show": "log_kappa_2"},
        footer=plan.footer("trust", ["mean_field"]),
        code=code_digest("finitewidth.figures.trust.kappa", "finitewidth.figures.job"),


use rule figure as trust_fig6 with:
    input:
        kappa=rules.trust_mean_field.output.kappa,
    output:
        pdf=f"{results}/trust/figures/trust_fig6.pdf",
        png=report(
            f"{results}/trust/figures/trust_fig6.png",
            caption="../report/trust_fig6.rst",
            category="trust",
            labels={"artifact": "Figure 6"},
        ),
        svg=f"{results}/trust/figures/trust_fig6.svg",
        csv=f"{results}/trust/figures/trust_fig6.csv",
    log:
        f"{results}/logs/trust/trust_fig6.log",
    benchmark:
        f"{results}/benchmarks/trust/trust_fig6.tsv"
    params:
        module="finitewidth.figures.trust.kappa",
        settings={"show": "log_ratio"},
        footer=plan.footer("trust", ["mean_field"]),
        code=code_digest("finitewidth.figures.trust.kappa", "finitewidth.figures.job"),


use rule figure as trust_fig7 with:
    input:
        cells=rules.trust_biases.output.cells,
        borders=rules.trust_biases.output.borders,
    output:
        pdf=f"{results}/trust/figures/trust_fig7.pdf",
        png=report(
            f"{results}/trust/figures/trust_fig7.png",
            caption="../report/trust_fig7.rst",
            category="trust",
            labels={"artifact": "Figure 7"},
        ),
        svg=f"{results}/trust/figures/trust_fig7.svg",
        csv=f"{results}/trust/figures/trust_fig7.csv",
    log:
        f"{results}/logs/trust/trust_fig7.log",
    benchmark:
        f"{results}/benchmarks/trust/trust_fig7.tsv"
    params:
        module="finitewidth.figures.trust.heat",
        settings={"sample": "ours"},
        footer=plan.footer("trust", ["biases"]),
        code=code_digest("finitewidth.figures.trust.heat", "finitewidth.figures.job"),


rule trust:
    input:
        plan.targets("trust"),
    localrule: True
