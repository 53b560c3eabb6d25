"""Rule -> the plan, printed."""

from finitewidth.plan import Plan

print(Plan(snakemake.config, ".").forecast(snakemake.params.rules, snakemake.params.gpu_tflops))
