"""What the length of training changes of NC3 at equal tau; a part of the job `collapse_decay`.

The thresholds of `RULE` are ours. They were fixed before a network of `collapse_lengths` was
trained, but after runs of the same kind with other random streams.
"""

# criterion -> least and largest value. A power is that of NC3, fitted with a constant for each cell
# of what is equal: tau and decay, or tau and length.
SAME = (-0.1, 0.1)
SMALL = "tau up to small_tau"
LARGE = "tau above small_tau"
STRONG = "tau above small_tau, decay from strong_decay"
RULE = {
    f"{SMALL}: power of length at equal tau and decay": SAME,
    f"{SMALL}: power of decay at equal tau and length": SAME,
    f"{LARGE}: power of length at equal tau and decay": SAME,
    f"{LARGE}: power of decay at equal tau and length": SAME,
    f"{STRONG}: power of length at equal tau and decay": SAME,
    f"{STRONG}: power of decay at equal tau and length": SAME,
    "rank correlation with tau": (-1.0, -0.8),
    "rank correlation with tau minus that with the intrinsic rate": (-2.0, 0.0),
}
