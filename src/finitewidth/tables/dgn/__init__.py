"""Tables of dgn."""
