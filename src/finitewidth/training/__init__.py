"""Training of stacked replicas: runs, losses, optimisers, the loop and its checkpoints."""
