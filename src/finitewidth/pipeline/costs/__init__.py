"""What a job will cost, from its settings alone: one formula per experiment. Imports no torch."""
