"""Rule -> the plan, printed and logged."""

from finitewidth.plan import Plan
from finitewidth.records import write_text

forecast = Plan(snakemake.config, ".").forecast(snakemake.params.rules, snakemake.params.gpu_tflops)
print(forecast)
write_text(snakemake.log[0], forecast + "\n")
