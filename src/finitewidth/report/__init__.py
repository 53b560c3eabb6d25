"""The HTML report: which results of the papers are reproduced. It is built from results only."""
