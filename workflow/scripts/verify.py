"""Rule -> the breaks of the chain of digests, printed and logged."""

from finitewidth.common.result_files import write_text

breaks, checked = snakemake.params.breaks
lines = [*breaks, f"{checked} jobs checked, {len(breaks)} breaks of the chain of digests"]
print("\n".join(lines))
write_text(snakemake.log[0], "\n".join(lines) + "\n")
if breaks:
    raise SystemExit(1)
