"""How good the evidence is: one grade for every verdict, printed number and figure.

`EXACT`: computed without random draws and without a dataset. `PAPER`: at the paper's own sizes, on
its own data. `REDUCED`: at other sizes, on the paper's data or without any dataset; results on the
paper's images re-encoded belong here too. `STAND_IN`: another dataset stands in for the paper's.
`DRAWING`: a schematic drawing or a table of equations, without a result.
"""

EXACT = "exact"
PAPER = "the paper's scale"
REDUCED = "the paper's data, reduced scale"
STAND_IN = "stand-in data"
DRAWING = "drawing"
GRADES = (EXACT, PAPER, REDUCED, STAND_IN, DRAWING)

# What a figure or table shows. It says nothing about the claims that are judged from the same data.
AT_SIZES, SMALLER = "at the paper's sizes", "reduced"
ON_STAND_IN, DRAWN = "on a stand-in", "drawing"
STATUSES = (AT_SIZES, SMALLER, ON_STAND_IN, DRAWN)
