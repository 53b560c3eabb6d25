# Do the verdicts depend on chance? The claims that rest on cheap experiments, judged again. `make
# robustness` runs this under several base seeds and compares.
from finitewidth.pipeline.robustness import Robustness

robust = Robustness(plan)


rule robustness_claims:
    input:
        robust.inputs,
    output:
        verdicts=f"{results}/robustness/{{paper}}_verdicts.csv",
        parts=f"{results}/robustness/{{paper}}_parts.csv",
        provenance=f"{results}/robustness/{{paper}}_provenance.json",
    log:
        f"{results}/logs/robustness/{{paper}}.log",
    benchmark:
        f"{results}/benchmarks/robustness/claims/{{paper}}.tsv"
    conda:
        "../envs/finitewidth.yaml"
    threads: 1
    resources:
        mem_mb=partial(plan.memory, "claims"),
        runtime=partial(plan.minutes, "claims"),
    params:
        claims=robust.claims,
        settings=robust.settings,
        stamp=robust.stamp,
        code=robust.code,
    script:
        "../scripts/robustness.py"


rule robustness:
    input:
        robust.targets,
    localrule: True
