"""How good the evidence is: one grade for every verdict, printed number and figure."""

EXACT = "exact"
PAPER = "the paper's scale"
REDUCED = "the paper's data, reduced scale"
STAND_IN = "stand-in data"
DRAWING = "drawing"
GRADES = (EXACT, PAPER, REDUCED, STAND_IN, DRAWING)

# What a figure or table shows. It says nothing about the claims that are judged from the same data.
AT_SIZES = "at the paper's sizes"
FEWER_RUNS = "the paper's sizes, fewer runs"
OWN_SIZES = "at sizes of our own"  # the paper states none
SMALLER = "reduced"
ON_STAND_IN = "on a stand-in"
DRAWN = "drawing"
STATUSES = (AT_SIZES, FEWER_RUNS, OWN_SIZES, SMALLER, ON_STAND_IN, DRAWN)
