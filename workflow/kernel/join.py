"""Rule -> the kernel: join all tiles, and their transposes, to one file."""

from pathlib import Path

from finitewidth.common.progress import logged_to

# ruff: noqa: F821 - Snakemake defines snakemake
with logged_to(snakemake.log[0]):
    from finitewidth.library.tile_files import TileFiles, block_named

    blocks = [block_named(name) for name in snakemake.config["blocks"]]
    TileFiles(Path(), blocks).join()
