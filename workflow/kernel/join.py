"""Rule -> the kernel: write all tiles, and their transposes, into one array on disk."""

from pathlib import Path

from finitewidth.common.progress import logged_to

# ruff: noqa: F821 - Snakemake defines snakemake
with logged_to(snakemake.log[0]):
    import numpy as np

    from finitewidth.common.result_files import atomic

    count = int(snakemake.config["blocks"][-1].split("-")[1])
    with atomic(snakemake.output[0]) as temporary:
        kernel = np.lib.format.open_memmap(temporary, "w+", np.float64, (count, count))
        for file in snakemake.input:
            blocks = Path(file).stem.split("_")
            rows, columns = (slice(*map(int, block.split("-"))) for block in blocks)
            kernel[rows, columns] = tile = np.load(file)
            kernel[columns, rows] = tile.T
        kernel.flush()
