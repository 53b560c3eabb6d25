"""Figures. A renderer selects rows of tables and draws them; it computes no result.

A renderer is a module with its data file ``TABLE`` and two functions, ``select(tables, settings)``,
which returns the rows to draw, and ``draw(rows, settings)``, which returns a matplotlib figure.
Several figures can share one renderer; their settings (``show`` in ``workflow/papers``) then tell
them apart.
"""
