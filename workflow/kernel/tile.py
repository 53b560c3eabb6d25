"""Rule -> one tile: make the network, give it the stored weights, and compute its kernel."""

from finitewidth.common.progress import LOG, logged_to

# ruff: noqa: F821 - Snakemake defines snakemake
with logged_to(snakemake.log[0]):
    import numpy as np
    import torch

    from finitewidth.common.result_files import atomic
    from finitewidth.common.torch_setup import prepare_torch
    from finitewidth.common.usage import cpu_seconds, peak_memory
    from finitewidth.library.modules import budget_in_mib, kernel_tile
    from finitewidth.networks.user_network import draw, read_user_network

    prepare_torch(snakemake.threads)
    config = snakemake.config
    images = np.load(snakemake.input.images, mmap_mode="r")
    blocks = dict.fromkeys((snakemake.wildcards.rows, snakemake.wildcards.columns))  # one or two
    x = [torch.from_numpy(images[slice(*map(int, block.split("-")))].copy()) for block in blocks]
    make, classes = read_user_network(config["network"]).factory(), config["classes"]
    network = draw(lambda: make(images.shape[1:], classes), x[0][:2], classes, config["seed"])
    network.load_state_dict(torch.load(snakemake.input.weights, weights_only=True))
    with budget_in_mib():
        tile = kernel_tile(network, *x, budget=snakemake.params.budget)
    with atomic(snakemake.output[0]) as temporary:
        np.save(temporary, tile.numpy())
    LOG.info("%.0f s of CPU time, at most %.0f MB of memory", cpu_seconds(), peak_memory())
