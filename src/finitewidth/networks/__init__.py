"""Networks with separated gates: their description, weights and forward pass, stacked over replicas."""
