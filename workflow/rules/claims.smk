# Does the paper hold? Verdicts on its claims and its printed numbers beside ours, from tables only.


rule claims:
    input:
        unpack(plan.claim_inputs),
    output:
        verdicts=ensure(f"{results}/claims/{{paper}}_verdicts.csv", non_empty=True),
        parts=f"{results}/claims/{{paper}}_parts.csv",
        numbers=f"{results}/claims/{{paper}}_numbers.csv",
    log:
        f"{results}/logs/claims/{{paper}}.log",
    benchmark:
        f"{results}/benchmarks/claims/{{paper}}.tsv"
    conda:
        "../envs/finitewidth.yaml"
    threads: 1
    resources:
        mem_mb=partial(plan.memory, "claims"),
        runtime=partial(plan.minutes, "claims"),
    params:
        settings=plan.claim_settings,
        code=plan.claim_code,
    script:
        "../scripts/claims.py"
