"""How good the evidence is: one grade for every verdict, printed number and figure."""

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
