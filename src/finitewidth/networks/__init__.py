"""Networks with separate gates: their description, weights and forward pass.

Many networks (replicas) are stacked along the first axis of every tensor. `normalised` holds
networks with batch normalisation instead of gates.
"""
