"""Experiments of ``beyond``: the tangent kernel when depth grows with width."""
