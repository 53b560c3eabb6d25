"""Plans of jobs, compared with the results that there are: what has to run again, and why."""
