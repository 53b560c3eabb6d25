"""Tables of npf and npf0."""
