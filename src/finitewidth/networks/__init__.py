"""Networks with separated gates: description, weights and forward pass, stacked over replicas."""
