"""Tables of deep gated networks."""
