"""The columns of the tables of collapse, each once: of networks, sweeps and flows."""
