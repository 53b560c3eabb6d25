"""The command ``finitewidth``: what there is, how to run it, how far it is, and what it found."""
