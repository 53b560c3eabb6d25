"""For every judged claim rows that support it and rows that contradict it, made up by hand.

One module per paper with ``ROWS``: claim id -> (supporting, contradicting), both functions without
arguments that return the tables the claim reads, by name.
"""
