"""Tables. A renderer selects rows and typesets them; it computes no result.

A renderer is a module with its data file ``TABLE`` and two functions, ``select(tables, settings)``,
which returns the rows to show, and ``typeset(rows, settings)``, which returns a
`finitewidth.tables.typeset.Typeset`.
"""
