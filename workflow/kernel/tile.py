"""Rule -> one tile: make the network, give it the stored weights, and compute its kernel."""

from finitewidth.common.progress import LOG, logged_to

# ruff: noqa: F821 - Snakemake defines snakemake
with logged_to(snakemake.log[0]):
    from pathlib import Path

    import numpy as np
    import torch

    from finitewidth.common.machine import cpu_seconds, peak_memory
    from finitewidth.common.torch_setup import prepare_torch
    from finitewidth.kernels.trained.batches import Batch
    from finitewidth.library.tile_files import TileFiles, block_named
    from finitewidth.library.tiles import budget_in_mib, tile_of
    from finitewidth.networks.user_network import draw, read_user_network

    prepare_torch(snakemake.threads)
    config = snakemake.config
    # mapped: only the images of the tile are read from the disk
    images = torch.from_numpy(np.load(snakemake.input.images, mmap_mode="c"))
    classes = config["classes"]
    make = read_user_network(config["network"]).factory()
    network = draw(lambda: make(images.shape[1:], classes), images[:2], classes, config["seed"])
    network.load_state_dict(torch.load(snakemake.input.weights, weights_only=True))
    rows = block_named(snakemake.wildcards.rows)
    columns = block_named(snakemake.wildcards.columns)
    with budget_in_mib():
        tile = tile_of(network, Batch((images,)), (rows, columns), budget=snakemake.params.budget)
    blocks = [block_named(name) for name in config["blocks"]]
    TileFiles(Path(), blocks).write((rows, columns), tile.numpy())
    LOG.info("%.0f s of CPU time, at most %.0f MB of memory", cpu_seconds(), peak_memory())
