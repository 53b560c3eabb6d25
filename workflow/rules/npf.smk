# Neural path features and the neural path kernel: npf, and its earlier version npf0.


use rule experiment as npf_regimes with:
    input:
        histories=plan.histories("npf", list(config["npf"]["regimes"]["rows"])),
        reported_npf="config/reported/npf.csv",
        reported_npf0="config/reported/npf0.csv",
    output:
        runs=f"{results}/npf/experiments/regimes_runs.csv",
        rows=ensure(f"{results}/npf/experiments/regimes.csv", non_empty=True),
        provenance=f"{results}/npf/experiments/regimes_provenance.json",
    log:
        plan.log("npf_regimes"),
    benchmark:
        plan.benchmark("npf_regimes")
    params:
        **module("finitewidth.experiments.npf.regimes"),
        settings={key: config["npf"]["regimes"][key] for key in ("select", "ddof")},


use rule experiment as npf_stages with:
    input:
        frozen=f"{results}/npf/training/stages-frozen/history.csv",
        table2=rules.npf_regimes.output.rows,
        reported_npf="config/reported/npf.csv",
    output:
        runs=f"{results}/npf/experiments/stages_runs.csv",
        curves=ensure(f"{results}/npf/experiments/stages.csv", non_empty=True),
        provenance=f"{results}/npf/experiments/stages_provenance.json",
    log:
        plan.log("npf_stages"),
    benchmark:
        plan.benchmark("npf_stages")
    params:
        **module("finitewidth.experiments.npf.stages"),
        settings={
            **{key: config["npf"]["stages"][key] for key in ("network", "optimiser")},
            **{key: config["npf"]["regimes"][key] for key in ("select", "ddof")},
        },


use rule experiment as npf_nu with:
    input:
        data=plan.dataset(config["npf"]["nu"]["dataset"]),
        weights=f"{results}/npf/training/nu/weights.npz",
    output:
        runs=f"{results}/npf/experiments/nu_runs.csv",
        curves=ensure(f"{results}/npf/experiments/nu.csv", non_empty=True),
        energy=f"{results}/npf/experiments/nu_energy.csv",
        provenance=f"{results}/npf/experiments/nu_provenance.json",
    log:
        plan.log("npf_nu"),
    benchmark:
        plan.benchmark("npf_nu")
    params:
        **module("finitewidth.experiments.npf.nu"),
        settings={
            **{key: config["npf"]["nu"][key] for key in ("classes", "per_class")},
            "ddof": config["npf"]["regimes"]["ddof"],
        },


use rule experiment as npf_kvf with:
    input:
        data=plan.dataset(config["npf"]["kvf"]["dataset"]),
        weights=f"{results}/npf/training/kvf/weights.npz",
    output:
        runs=f"{results}/npf/experiments/kvf_runs.csv",
        curves=ensure(f"{results}/npf/experiments/kvf.csv", non_empty=True),
        provenance=f"{results}/npf/experiments/kvf_provenance.json",
    log:
        plan.log("npf_kvf"),
    benchmark:
        plan.benchmark("npf_kvf")
    params:
        **module("finitewidth.experiments.npf.kvf"),
        settings={
            **{
                key: config["npf"]["kvf"][key]
                for key in ("per_class", "gate", "with_biases", "output")
            },
            "ddof": config["npf"]["regimes"]["ddof"],
        },


use rule experiment as npf_theory with:
    output:
        mean=ensure(f"{results}/npf/experiments/theory_mean.csv", non_empty=True),
        runs=f"{results}/npf/experiments/theory_runs.csv",
        curves=f"{results}/npf/experiments/theory_curves.csv",
        variance=f"{results}/npf/experiments/theory_variance.csv",
        limits=f"{results}/npf/experiments/theory_limits.csv",
        provenance=f"{results}/npf/experiments/theory_provenance.json",
    log:
        plan.log("npf_theory"),
    benchmark:
        plan.benchmark("npf_theory")
    params:
        **module("finitewidth.experiments.npf.theory"),
        settings=config["npf"]["theory"],


use rule experiment as npf_limits with:
    input:
        limits=rules.npf_theory.output.limits,
    output:
        rows=ensure(f"{results}/npf/experiments/limits.csv", non_empty=True),
        provenance=f"{results}/npf/experiments/limits_provenance.json",
    log:
        plan.log("npf_limits"),
    benchmark:
        plan.benchmark("npf_limits")
    params:
        **module("finitewidth.experiments.npf.limits"),
        settings={},


use rule table as npf_extra_limits with:
    input:
        rows=rules.npf_limits.output.rows,
    output:
        **files_of("npf_extra_limits"),
    log:
        plan.log("npf_extra_limits"),
    benchmark:
        plan.benchmark("npf_extra_limits")
    params:
        **module("finitewidth.tables.npf.extra_limits"),
        settings={},
        footer=plan.footer("npf", ["theory"], parts=["limits"]),


use rule experiment as npf_memorisation_ideal with:
    output:
        spectrum=ensure(
            f"{results}/npf/experiments/memorisation_ideal.csv", non_empty=True
        ),
        provenance=f"{results}/npf/experiments/memorisation_ideal_provenance.json",
    log:
        plan.log("npf_memorisation_ideal"),
    benchmark:
        plan.benchmark("npf_memorisation_ideal")
    params:
        **module("finitewidth.experiments.npf.memorisation_ideal"),
        settings=config["npf"]["memorisation"]["task"],


use rule experiment as npf_memorisation with:
    output:
        kernels=ensure(
            f"{results}/npf/experiments/memorisation_kernels.csv", non_empty=True
        ),
        spectra=f"{results}/npf/experiments/memorisation_spectra.csv",
        errors=f"{results}/npf/experiments/memorisation_errors.csv",
        error_curves=f"{results}/npf/experiments/memorisation_error_curves.csv",
        entries=f"{results}/npf/experiments/memorisation_entries.csv",
        provenance=f"{results}/npf/experiments/memorisation_provenance.json",
    log:
        plan.log("npf_memorisation"),
    benchmark:
        plan.benchmark("npf_memorisation")
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=partial(plan.experiment_minutes, "npf_memorisation"),
    params:
        **module("finitewidth.experiments.npf.memorisation"),
        settings={
            **config["npf"]["memorisation"]["task"],
            **config["npf"]["memorisation"],
            "descent": config["npf"]["memorisation"]["descent"],
        },


use rule experiment as npf_cntk with:
    input:
        data=plan.dataset(config["npf"]["cntk"]["dataset"]),
        histories=plan.histories("npf", ["cntk"]),
        reported_npf="config/reported/npf.csv",
    output:
        runs=f"{results}/npf/experiments/cntk_runs.csv",
        rows=ensure(f"{results}/npf/experiments/cntk.csv", non_empty=True),
        provenance=f"{results}/npf/experiments/cntk_provenance.json",
    log:
        plan.log("npf_cntk"),
    benchmark:
        plan.benchmark("npf_cntk")
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=partial(plan.experiment_minutes, "npf_cntk"),
    params:
        **module("finitewidth.experiments.npf.cntk"),
        settings={
            **{
                key: config["npf"]["cntk"][key]
                for key in ("train", "test", "pool", "sizes")
            },
            "ridges": config["npf"]["cntk"]["ridges"],
            "network": config["npf"]["regimes"]["networks"][
                config["npf"]["cntk"]["network"]
            ],
            "comparable": plan.at_papers_scale([("npf", "table2")], ["cifar10"]),
        },


use rule table as npf_extra_cntk with:
    input:
        rows=rules.npf_cntk.output.rows,
    output:
        **files_of("npf_extra_cntk"),
    log:
        plan.log("npf_extra_cntk"),
    benchmark:
        plan.benchmark("npf_extra_cntk")
    params:
        **module("finitewidth.tables.npf.extra_cntk"),
        settings={"dataset": plan.titles("cifar10")["cifar10"]},
        footer=plan.footer("npf", ["cntk"], "cifar10"),


use rule experiment as npf_text with:
    input:
        regimes=rules.npf_regimes.output.runs,
        stages=rules.npf_stages.output.runs,
        cntk_runs=rules.npf_cntk.output.runs,
        cntk=rules.npf_cntk.output.rows,
        reported_npf="config/reported/npf.csv",
    output:
        rows=ensure(f"{results}/npf/experiments/text.csv", non_empty=True),
        provenance=f"{results}/npf/experiments/text_provenance.json",
    log:
        plan.log("npf_text"),
    benchmark:
        plan.benchmark("npf_text")
    params:
        **module("finitewidth.experiments.npf.text"),
        settings={key: config["npf"]["regimes"][key] for key in ("select", "ddof")},


use rule table as npf_extra_text with:
    input:
        rows=rules.npf_text.output.rows,
    output:
        **files_of("npf_extra_text"),
    log:
        plan.log("npf_extra_text"),
    benchmark:
        plan.benchmark("npf_extra_text")
    params:
        **module("finitewidth.tables.npf.extra_text"),
        settings={"datasets": plan.titles("mnist", "cifar10")},
        footer=plan.footer("npf", ["table2", "stages", "cntk"], "mnist", "cifar10"),


use rule table as npf_table2 with:
    input:
        rows=rules.npf_regimes.output.rows,
    output:
        **files_of("npf_table2"),
    log:
        plan.log("npf_table2"),
    benchmark:
        plan.benchmark("npf_table2")
    params:
        **module("finitewidth.tables.npf.table2"),
        settings={
            "paper": "npf",
            "datasets": plan.titles("mnist", "cifar10"),
            "comparable": plan.comparable("npf", "table2", "mnist", "cifar10"),
        },
        footer=plan.footer("npf", ["table2"], "mnist", "cifar10"),


use rule figure as npf_fig3 with:
    input:
        stages=rules.npf_stages.output.curves,
        nu=rules.npf_nu.output.curves,
        kvf=rules.npf_kvf.output.curves,
    output:
        **files_of("npf_fig3"),
    log:
        plan.log("npf_fig3"),
    benchmark:
        plan.benchmark("npf_fig3")
    params:
        **module("finitewidth.figures.npf.fig3"),
        settings={"unit": "percent", "decoupled": "DLNPF"},
        footer=plan.footer("npf", ["stages", "nu", "kvf"], "mnist", "cifar10"),


use rule figure as npf_extra_theory with:
    input:
        curves=rules.npf_theory.output.curves,
        variance=rules.npf_theory.output.variance,
    output:
        **files_of("npf_extra_theory"),
    log:
        plan.log("npf_extra_theory"),
    benchmark:
        plan.benchmark("npf_extra_theory")
    params:
        **module("finitewidth.figures.npf.extra_theory"),
        settings={},
        footer=plan.footer("npf", ["theory"]),


use rule figure as npf_extra_energy with:
    input:
        energy=rules.npf_nu.output.energy,
    output:
        **files_of("npf_extra_energy"),
    log:
        plan.log("npf_extra_energy"),
    benchmark:
        plan.benchmark("npf_extra_energy")
    params:
        **module("finitewidth.figures.npf.extra_energy"),
        settings={},
        footer=plan.footer("npf", ["nu"], "mnist"),


use rule figure as npf_fig6 with:
    input:
        ideal=rules.npf_memorisation_ideal.output.spectrum,
    output:
        **files_of("npf_fig6"),
    log:
        plan.log("npf_fig6"),
    benchmark:
        plan.benchmark("npf_fig6")
    params:
        **module("finitewidth.figures.npf.fig6"),
        settings={},
        footer=plan.footer("npf", ["memorisation_task"]),


use rule figure as npf_fig7 with:
    input:
        spectra=rules.npf_memorisation.output.spectra,
        errors=rules.npf_memorisation.output.error_curves,
    output:
        **files_of("npf_fig7"),
    log:
        plan.log("npf_fig7"),
    benchmark:
        plan.benchmark("npf_fig7")
    params:
        **module("finitewidth.figures.npf.fig7"),
        settings={},
        footer=plan.footer(
            "npf",
            ["memorisation_task", "memorisation", "memorisation_descent"],
            artifact="npf_fig7",
        ),


use rule npf_table2 as npf0_table2 with:
    output:
        **files_of("npf0_table2"),
    log:
        plan.log("npf0_table2"),
    benchmark:
        plan.benchmark("npf0_table2")
    params:
        **module("finitewidth.tables.npf.table2"),
        settings={
            "paper": "npf0",
            "datasets": plan.titles("mnist", "cifar10"),
            "comparable": plan.comparable("npf", "table2", "mnist", "cifar10"),
        },
        footer=plan.footer("npf", ["table2"], "mnist", "cifar10"),


use rule npf_fig3 as npf0_fig3 with:
    output:
        **files_of("npf0_fig3"),
    log:
        plan.log("npf0_fig3"),
    benchmark:
        plan.benchmark("npf0_fig3")
    params:
        **module("finitewidth.figures.npf.fig3"),
        settings={"unit": "fraction", "decoupled": "DNPFL"},
        footer=plan.footer("npf", ["stages", "nu", "kvf"], "mnist", "cifar10"),


rule npf:
    input:
        plan.targets("npf"),
    localrule: True


rule npf0:
    input:
        plan.targets("npf0"),
    localrule: True
