"""Neural (tangent kernel) collapse."""
