# Do the papers hold? Verdicts on the claims of a paper, and its printed numbers beside ours, from tables
# only.


rule claims:
    """Verdicts on the claims of a paper, and its printed numbers beside ours"""
    input:
        unpack(lambda wildcards: inputs_of(f"claims {wildcards.paper}")),
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
        **plan.requests.resources("claims"),
    params:
        settings=lambda wildcards: parameter(f"claims {wildcards.paper}", "settings"),
    script:
        "../scripts/claims.py"
