# Stacked trainings. One thread each: the numbers do not depend on --cores, and two trainings side
# by side use two cores better than one training does.


rule train:
    input:
        unpack(lambda wildcards: inputs_of(f"{wildcards.paper}/{wildcards.training}")),
    output:
        history=f"{results}/{{paper}}/training/{{training}}/history.csv",
        weights=f"{results}/{{paper}}/training/{{training}}/weights.npz",
        provenance=f"{results}/{{paper}}/training/{{training}}/provenance.json",
    log:
        f"{results}/logs/{{paper}}/training/{{training}}.log",
    benchmark:
        f"{results}/benchmarks/{{paper}}/training/{{training}}.tsv"
    resources:
        **plan.requests.of("train"),
        gpu=plan.gpus,
    params:
        settings=lambda wildcards: parameter(
            f"{wildcards.paper}/{wildcards.training}", "settings"
        ),
        seed=config["seed"],
        checkpoints=f"{results}/.checkpoints",
    script:
        "../scripts/train.py"
