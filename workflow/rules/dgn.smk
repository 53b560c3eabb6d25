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


use rule table as dgn_extra_identities with:
    input:
        identities=rules.dgn_theory.output.identities,
    output:
        **files_of("dgn_extra_identities"),
    log:
        plan.log("dgn_extra_identities"),
    benchmark:
        plan.benchmark("dgn_extra_identities")
    params:
        **module("finitewidth.tables.dgn.extra_identities"),
        settings={},
        footer=plan.footer("dgn", ["theory"], parts=["overlaps", "linear"]),


use rule experiment as dgn_planar with:
    output:
        kernels=ensure(f"{results}/dgn/experiments/planar_kernels.csv", non_empty=True),
        spectra=f"{results}/dgn/experiments/planar_spectra.csv",
        errors=f"{results}/dgn/experiments/planar_errors.csv",
        error_curves=f"{results}/dgn/experiments/planar_error_curves.csv",
        provenance=f"{results}/dgn/experiments/planar_provenance.json",
    log:
        plan.log("dgn_planar"),
    benchmark:
        plan.benchmark("dgn_planar")
    params:
        **module("finitewidth.experiments.dgn.planar"),
        settings=config["dgn"]["planar"],


use rule experiment as dgn_deep_linear with:
    output:
        runs=ensure(f"{results}/dgn/experiments/deep_linear_runs.csv", non_empty=True),
        start=f"{results}/dgn/experiments/deep_linear_start.csv",
        curves=f"{results}/dgn/experiments/deep_linear_curves.csv",
        provenance=f"{results}/dgn/experiments/deep_linear_provenance.json",
    log:
        plan.log("dgn_deep_linear"),
    benchmark:
        plan.benchmark("dgn_deep_linear")
    params:
        **module("finitewidth.experiments.dgn.deep_linear"),
        settings=config["dgn"]["deep_linear"],


use rule figure as dgn_fig1 with:
    input:
        ideal=rules.npf_memorisation_ideal.output.spectrum,
        spectra=rules.npf_memorisation.output.spectra,
    output:
        **files_of("dgn_fig1"),
    log:
        plan.log("dgn_fig1"),
    benchmark:
        plan.benchmark("dgn_fig1")
    params:
        **module("finitewidth.figures.dgn.fig1"),
        settings={},
        footer=plan.footer(
            "npf", ["memorisation_task", "memorisation"], artifact="dgn_fig1"
        ),


use rule figure as dgn_fig2 with:
    input:
        entries=rules.npf_memorisation.output.entries,
    output:
        **files_of("dgn_fig2"),
    log:
        plan.log("dgn_fig2"),
    benchmark:
        plan.benchmark("dgn_fig2")
    params:
        **module("finitewidth.figures.dgn.fig2"),
        settings={},
        footer=plan.footer(
            "npf", ["memorisation_task", "memorisation"], artifact="dgn_fig2"
        ),


use rule figure as dgn_fig3 with:
    input:
        spectra=rules.npf_memorisation.output.spectra,
        errors=rules.npf_memorisation.output.error_curves,
    output:
        **files_of("dgn_fig3"),
    log:
        plan.log("dgn_fig3"),
    benchmark:
        plan.benchmark("dgn_fig3")
    params:
        **module("finitewidth.figures.dgn.fig3"),
        settings={},
        footer=plan.footer(
            "npf",
            ["memorisation_task", "memorisation", "memorisation_descent"],
            artifact="dgn_fig3",
        ),


use rule figure as dgn_fig4 with:
    input:
        spectra=rules.dgn_planar.output.spectra,
        errors=rules.dgn_planar.output.error_curves,
    output:
        **files_of("dgn_fig4"),
    log:
        plan.log("dgn_fig4"),
    benchmark:
        plan.benchmark("dgn_fig4")
    params:
        **module("finitewidth.figures.dgn.fig4"),
        settings={},
        footer=plan.footer("dgn", ["planar"]),


use rule figure as dgn_fig6 with:
    input:
        nu=rules.npf_nu.output.curves,
    output:
        **files_of("dgn_fig6"),
    log:
        plan.log("dgn_fig6"),
    benchmark:
        plan.benchmark("dgn_fig6")
    params:
        **module("finitewidth.figures.dgn.fig6"),
        settings={},
        footer=plan.footer("npf", ["nu"], "mnist"),


use rule figure as dgn_fig10 with:
    input:
        start=rules.dgn_deep_linear.output.start,
        curves=rules.dgn_deep_linear.output.curves,
    output:
        **files_of("dgn_fig10"),
    log:
        plan.log("dgn_fig10"),
    benchmark:
        plan.benchmark("dgn_fig10")
    params:
        **module("finitewidth.figures.dgn.fig10"),
        settings={},
        footer=plan.footer("dgn", ["deep_linear"], artifact="dgn_fig10"),


use rule experiment as dgn_concepts with:
    output:
        equations=f"{results}/dgn/experiments/concepts_equations.csv",
        variants=f"{results}/dgn/experiments/concepts_variants.csv",
        connections=f"{results}/dgn/experiments/concepts_connections.csv",
        paths=f"{results}/dgn/experiments/concepts_paths.csv",
        kernel=f"{results}/dgn/experiments/concepts_kernel.csv",
        provenance=f"{results}/dgn/experiments/concepts_provenance.json",
    log:
        plan.log("dgn_concepts"),
    benchmark:
        plan.benchmark("dgn_concepts")
    params:
        **module("finitewidth.experiments.dgn.concepts"),
        settings=config["dgn"]["concepts"],


use rule table as dgn_table1 with:
    input:
        equations=rules.dgn_concepts.output.equations,
    output:
        **files_of("dgn_table1"),
    log:
        plan.log("dgn_table1"),
    benchmark:
        plan.benchmark("dgn_table1")
    params:
        **module("finitewidth.tables.equations"),
        settings={
            "artifact": "dgn_table1",
            "title": "Forward pass of a deep gated network",
        },
        footer=plan.footer("dgn", ["concepts"]),


use rule table as dgn_table2 with:
    input:
        equations=rules.dgn_concepts.output.equations,
    output:
        **files_of("dgn_table2"),
    log:
        plan.log("dgn_table2"),
    benchmark:
        plan.benchmark("dgn_table2")
    params:
        **module("finitewidth.tables.equations"),
        settings={
            "artifact": "dgn_table2",
            "title": "A network that makes the gates and one that uses them",
        },
        footer=plan.footer("dgn", ["concepts"]),


use rule table as dgn_table3 with:
    input:
        variants=rules.dgn_concepts.output.variants,
    output:
        **files_of("dgn_table3"),
    log:
        plan.log("dgn_table3"),
    benchmark:
        plan.benchmark("dgn_table3")
    params:
        **module("finitewidth.tables.dgn.table3"),
        settings={},
        footer=plan.footer("dgn", ["concepts"]),


use rule table as dgn_table5 with:
    input:
        equations=rules.dgn_concepts.output.equations,
    output:
        **files_of("dgn_table5"),
    log:
        plan.log("dgn_table5"),
    benchmark:
        plan.benchmark("dgn_table5")
    params:
        **module("finitewidth.tables.equations"),
        settings={
            "artifact": "dgn_table5",
            "title": "Forward pass of a deep gated network, example by example",
        },
        footer=plan.footer("dgn", ["concepts"]),


use rule figure as dgn_fig9 with:
    input:
        connections=rules.dgn_concepts.output.connections,
        paths=rules.dgn_concepts.output.paths,
    output:
        **files_of("dgn_fig9"),
    log:
        plan.log("dgn_fig9"),
    benchmark:
        plan.benchmark("dgn_fig9")
    params:
        **module("finitewidth.figures.dgn.fig9"),
        settings={},
        footer=plan.footer("dgn", ["concepts"]),


use rule experiment as dgn_mnist with:
    input:
        histories=plan.histories("dgn", ["mnist"]),
    output:
        runs=f"{results}/dgn/experiments/mnist_runs.csv",
        curves=ensure(f"{results}/dgn/experiments/mnist.csv", non_empty=True),
        provenance=f"{results}/dgn/experiments/mnist_provenance.json",
    log:
        plan.log("dgn_mnist"),
    benchmark:
        plan.benchmark("dgn_mnist")
    params:
        **module("finitewidth.experiments.dgn.mnist"),
        settings={key: config["dgn"]["mnist"][key] for key in ("pixels", "ddof")},


use rule experiment as dgn_binary with:
    input:
        histories=plan.histories("dgn", ["binary"]),
    output:
        runs=f"{results}/dgn/experiments/binary_runs.csv",
        curves=ensure(f"{results}/dgn/experiments/binary.csv", non_empty=True),
        provenance=f"{results}/dgn/experiments/binary_provenance.json",
    log:
        plan.log("dgn_binary"),
    benchmark:
        plan.benchmark("dgn_binary")
    params:
        **module("finitewidth.experiments.dgn.binary"),
        settings={"ddof": config["dgn"]["binary"]["ddof"]},


use rule experiment as dgn_nu with:
    input:
        data=plan.dataset(config["dgn"]["binary"]["dataset"]),
        relu=f"{results}/dgn/training/binary-relu/weights.npz",
        soft_relu=f"{results}/dgn/training/binary-soft_relu/weights.npz",
        frozen=f"{results}/dgn/training/binary-frozen/weights.npz",
        soft_galu=f"{results}/dgn/training/binary-soft_galu/weights.npz",
    output:
        runs=f"{results}/dgn/experiments/nu_runs.csv",
        curves=ensure(f"{results}/dgn/experiments/nu.csv", non_empty=True),
        provenance=f"{results}/dgn/experiments/nu_provenance.json",
    log:
        plan.log("dgn_nu"),
    benchmark:
        plan.benchmark("dgn_nu")
    params:
        **module("finitewidth.experiments.dgn.nu"),
        settings={
            key: config["dgn"]["binary"][key]
            for key in (
                "classes",
                "per_class",
                "gate",
                "feature_hidden",
                "runs",
                "ddof",
            )
        },


use rule experiment as dgn_sweep with:
    input:
        histories=plan.histories("dgn", ["table4"]),
        reported="config/reported/dgn.csv",
    output:
        runs=f"{results}/dgn/experiments/sweep_runs.csv",
        rows=ensure(f"{results}/dgn/experiments/sweep.csv", non_empty=True),
        provenance=f"{results}/dgn/experiments/sweep_provenance.json",
    log:
        plan.log("dgn_sweep"),
    benchmark:
        plan.benchmark("dgn_sweep")
    params:
        **module("finitewidth.experiments.dgn.sweep"),
        settings={key: config["dgn"]["sweep"][key] for key in ("select", "ddof")},


use rule experiment as dgn_text with:
    input:
        gates_only=f"{results}/dgn/training/gates_only/history.csv",
        mnist=rules.dgn_mnist.output.runs,
        table4=rules.dgn_sweep.output.runs,
        reported="config/reported/dgn.csv",
    output:
        runs=f"{results}/dgn/experiments/text_runs.csv",
        rows=ensure(f"{results}/dgn/experiments/text.csv", non_empty=True),
        provenance=f"{results}/dgn/experiments/text_provenance.json",
    log:
        plan.log("dgn_text"),
    benchmark:
        plan.benchmark("dgn_text")
    params:
        **module("finitewidth.experiments.dgn.text"),
        settings={
            "in_text": config["dgn"]["sweep"]["in_text"],
            "ddof": config["dgn"]["gates_only"]["ddof"],
            **{
                section: {"select": config["dgn"][section]["select"]}
                for section in ("mnist", "table4", "gates_only")
            },
        },


use rule figure as dgn_fig5 with:
    input:
        curves=rules.dgn_mnist.output.curves,
    output:
        **files_of("dgn_fig5"),
    log:
        plan.log("dgn_fig5"),
    benchmark:
        plan.benchmark("dgn_fig5")
    params:
        **module("finitewidth.figures.dgn.fig5"),
        settings={"pixels": config["dgn"]["mnist"]["pixels"]},
        footer=plan.footer("dgn", ["mnist"], "mnist"),


use rule figure as dgn_fig7 with:
    input:
        curves=rules.dgn_binary.output.curves,
    output:
        **files_of("dgn_fig7"),
    log:
        plan.log("dgn_fig7"),
    benchmark:
        plan.benchmark("dgn_fig7")
    params:
        **module("finitewidth.figures.dgn.fig7"),
        settings={},
        footer=plan.footer("dgn", ["binary"], "mnist"),


use rule figure as dgn_fig8 with:
    input:
        curves=rules.dgn_nu.output.curves,
    output:
        **files_of("dgn_fig8"),
    log:
        plan.log("dgn_fig8"),
    benchmark:
        plan.benchmark("dgn_fig8")
    params:
        **module("finitewidth.figures.dgn.fig8"),
        settings={},
        footer=plan.footer("dgn", ["binary"], "mnist"),


use rule table as dgn_table4 with:
    input:
        rows=rules.dgn_sweep.output.rows,
    output:
        **files_of("dgn_table4"),
    log:
        plan.log("dgn_table4"),
    benchmark:
        plan.benchmark("dgn_table4")
    params:
        **module("finitewidth.tables.dgn.table4"),
        settings={"dataset": plan.titles("cifar10")["cifar10"]},
        footer=plan.footer("dgn", ["table4"], "cifar10"),


use rule table as dgn_extra_text with:
    input:
        rows=rules.dgn_text.output.rows,
    output:
        **files_of("dgn_extra_text"),
    log:
        plan.log("dgn_extra_text"),
    benchmark:
        plan.benchmark("dgn_extra_text")
    params:
        **module("finitewidth.tables.dgn.extra_text"),
        settings={"datasets": plan.titles("mnist", "cifar10")},
        footer=plan.footer("dgn", ["gates_only", "table4", "mnist"], "mnist", "cifar10"),


rule dgn:
    input:
        plan.targets("dgn"),
    localrule: True
