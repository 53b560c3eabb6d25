# What npf and npf0 define and draw without training anything: computed exactly.


use rule experiment as npf_concepts with:
    output:
        toy=f"{results}/npf/experiments/concepts_toy.csv",
        paths=f"{results}/npf/experiments/concepts_paths.csv",
        overlap=f"{results}/npf/experiments/concepts_overlap.csv",
        blocks=f"{results}/npf/experiments/concepts_blocks.csv",
        layouts=f"{results}/npf/experiments/concepts_layouts.csv",
        successors=f"{results}/npf/experiments/concepts_successors.csv",
        padding=f"{results}/npf/experiments/concepts_padding.csv",
        equations=f"{results}/npf/experiments/concepts_equations.csv",
        provenance=f"{results}/npf/experiments/concepts_provenance.json",
    log:
        plan.log("npf_concepts"),
    benchmark:
        plan.benchmark("npf_concepts")
    params:
        **module("finitewidth.experiments.npf.concepts"),
        settings=config["npf"]["concepts"],


use rule table as npf_table1 with:
    input:
        equations=rules.npf_concepts.output.equations,
    output:
        **files_of("npf_table1"),
    log:
        plan.log("npf_table1"),
    benchmark:
        plan.benchmark("npf_table1")
    params:
        **module("finitewidth.tables.equations"),
        settings={
            "artifact": "npf_table1",
            "title": "Forward pass of a ReLU network, gates written out",
        },
        footer=plan.footer("npf", ["concepts"]),


use rule npf_table1 as npf0_table1 with:
    output:
        **files_of("npf0_table1"),
    log:
        plan.log("npf0_table1"),
    benchmark:
        plan.benchmark("npf0_table1")
    params:
        **module("finitewidth.tables.equations"),
        settings={
            "artifact": "npf0_table1",
            "title": "Forward pass of a ReLU network, gates written out (earlier version)",
        },
        footer=plan.footer("npf", ["concepts"]),


use rule table as npf_table3 with:
    input:
        layouts=rules.npf_concepts.output.layouts,
        successors=rules.npf_concepts.output.successors,
    output:
        **files_of("npf_table3"),
    log:
        plan.log("npf_table3"),
    benchmark:
        plan.benchmark("npf_table3")
    params:
        **module("finitewidth.tables.npf.table3"),
        settings={},
        footer=plan.footer("npf", ["concepts"]),


use rule table as npf_table4 with:
    input:
        equations=rules.npf_concepts.output.equations,
    output:
        **files_of("npf_table4"),
    log:
        plan.log("npf_table4"),
    benchmark:
        plan.benchmark("npf_table4")
    params:
        **module("finitewidth.tables.equations"),
        settings={
            "artifact": "npf_table4",
            "title": "The deep gated network with its gates repeated m times",
        },
        footer=plan.footer("npf", ["concepts"]),


use rule table as npf_table5 with:
    input:
        equations=rules.npf_concepts.output.equations,
    output:
        **files_of("npf_table5"),
    log:
        plan.log("npf_table5"),
    benchmark:
        plan.benchmark("npf_table5")
    params:
        **module("finitewidth.tables.equations"),
        settings={
            "artifact": "npf_table5",
            "title": "The memorisation network: constant input, given gates",
        },
        footer=plan.footer("npf", ["concepts"]),


use rule figure as npf_fig1 with:
    input:
        toy=rules.npf_concepts.output.toy,
        paths=rules.npf_concepts.output.paths,
        overlap=rules.npf_concepts.output.overlap,
    output:
        **files_of("npf_fig1"),
    log:
        plan.log("npf_fig1"),
    benchmark:
        plan.benchmark("npf_fig1")
    params:
        **module("finitewidth.figures.npf.fig1"),
        settings={},
        footer=plan.footer("npf", ["concepts"]),


use rule npf_fig1 as npf0_fig1 with:
    output:
        **files_of("npf0_fig1"),
    log:
        plan.log("npf0_fig1"),
    benchmark:
        plan.benchmark("npf0_fig1")
    params:
        **module("finitewidth.figures.npf.fig1"),
        settings={},
        footer=plan.footer("npf", ["concepts"]),


use rule figure as npf_fig2 with:
    input:
        blocks=rules.npf_concepts.output.blocks,
        equations=rules.npf_concepts.output.equations,
    output:
        **files_of("npf_fig2"),
    log:
        plan.log("npf_fig2"),
    benchmark:
        plan.benchmark("npf_fig2")
    params:
        **module("finitewidth.figures.npf.fig2"),
        settings={"paper": "npf"},
        footer=plan.footer("npf", ["concepts"]),


use rule npf_fig2 as npf0_fig2 with:
    output:
        **files_of("npf0_fig2"),
    log:
        plan.log("npf0_fig2"),
    benchmark:
        plan.benchmark("npf0_fig2")
    params:
        **module("finitewidth.figures.npf.fig2"),
        settings={"paper": "npf0"},
        footer=plan.footer("npf", ["concepts"]),


use rule figure as npf_fig4 with:
    input:
        layouts=rules.npf_concepts.output.layouts,
        successors=rules.npf_concepts.output.successors,
    output:
        **files_of("npf_fig4"),
    log:
        plan.log("npf_fig4"),
    benchmark:
        plan.benchmark("npf_fig4")
    params:
        **module("finitewidth.figures.npf.fig4"),
        settings={},
        footer=plan.footer("npf", ["concepts"]),


use rule figure as npf_fig5 with:
    input:
        padding=rules.npf_concepts.output.padding,
    output:
        **files_of("npf_fig5"),
    log:
        plan.log("npf_fig5"),
    benchmark:
        plan.benchmark("npf_fig5")
    params:
        **module("finitewidth.figures.npf.fig5"),
        settings={},
        footer=plan.footer("npf", ["concepts"]),
