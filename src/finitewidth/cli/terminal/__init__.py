"""What a run shows in the terminal: a line per finished job, bars for running ones, a total.

Snakemake's own messages go to its log file, ``.snakemake/log/``. With the environment variable
``FINITEWIDTH_TERMINAL=snakemake`` they are shown instead.
"""
