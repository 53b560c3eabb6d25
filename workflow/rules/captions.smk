# Captions with settings of this run, and below them the verdicts on claims; one job for each paper.
for paper in plan.paper_names:

    rule:
        """The captions of a paper"""
        name:
            f"captions_{paper}"
        input:
            unpack(partial(inputs_of, f"captions_{paper}")),
        output:
            *plan.files.captions(paper),
            provenance=f"{results}/provenance/{paper}/captions.json",
        log:
            plan.files.log(f"captions_{paper}"),
        benchmark:
            plan.files.benchmark(f"captions_{paper}")
        resources:
            **plan.requests.resources(f"captions_{paper}"),
        params:
            captions=partial(parameter, f"captions_{paper}", "captions"),
        script:
            "../scripts/captions.py"
