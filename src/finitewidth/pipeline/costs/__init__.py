"""What a job costs: a formula for trainings, a table for everything else. Imports no torch."""
