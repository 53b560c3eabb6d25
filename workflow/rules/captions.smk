# Captions with settings of this run, and below them the verdicts on claims; one job for each paper.
for paper in plan.captioned:

    rule:
        name:
            f"captions_{paper}"
        input:
            **in_project(plan.caption_inputs(paper)),
        output:
            *plan.captions(paper),
            provenance=f"{results}/provenance/{paper}/captions.json",
        log:
            f"{results}/logs/{paper}/captions.log",
        benchmark:
            f"{results}/benchmarks/{paper}/captions.tsv"
        resources:
            **plan.requests.of(f"captions_{paper}"),
        params:
            captions=partial(plan.caption_jobs, paper),
            code=plan.caption_code(paper),
        script:
            "../scripts/captions.py"
