# Does the paper hold? Verdicts on its claims and its printed numbers beside ours, from tables only.


rule claims:
    input:
        unpack(lambda wildcards: in_project(plan.claim_inputs(wildcards))),
    output:
        verdicts=f"{results}/claims/{{paper}}_verdicts.csv",
        parts=f"{results}/claims/{{paper}}_parts.csv",
        numbers=f"{results}/claims/{{paper}}_numbers.csv",
        provenance=f"{results}/provenance/claims/{{paper}}.json",
    log:
        f"{results}/logs/claims/{{paper}}.log",
    benchmark:
        f"{results}/benchmarks/claims/{{paper}}.tsv"
    resources:
        **plan.requests.of("claims"),
    params:
        settings=plan.claim_settings,
        code=plan.claim_code,
    script:
        "../scripts/claims.py"
