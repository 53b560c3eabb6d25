"""What is declared about the papers: trainings, experiments, artifacts, texts, printed numbers."""
