"""Rule -> the plan, printed and logged."""

from finitewidth.common.result_files import write_text
from finitewidth.pipeline.plan import Plan

forecast = Plan(snakemake.config, ".").forecast(snakemake.params.rules, snakemake.params.gpu_tflops)
print(forecast)
write_text(snakemake.log[0], forecast + "\n")
