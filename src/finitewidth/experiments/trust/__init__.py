"""Experiments of ``trust``: the tangent kernel of finite networks at initialisation."""
