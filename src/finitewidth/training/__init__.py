"""Training of many networks at once: runs, losses, optimisers, the loop and checkpoints."""
