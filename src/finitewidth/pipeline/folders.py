"""Names of folders of results, for jobs as well: this module imports nothing."""

DATASETS = "results/data"  # of the datasets of all runs
PLANS = ".plan"  # of the files with plans, below the results of a run
CHECKPOINTS = ".checkpoints"  # likewise, of trainings and experiments
