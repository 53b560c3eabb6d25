"""Experiments of ``trust``: the tangent kernel of finite networks, drawn and computed."""
