"""Deep Gated Networks."""
