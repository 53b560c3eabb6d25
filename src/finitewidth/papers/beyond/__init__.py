"""The neural tangent kernel beyond the infinite-width limit."""
