"""What surrounds a run: the machine and other runs, records of jobs, and the terminal."""
