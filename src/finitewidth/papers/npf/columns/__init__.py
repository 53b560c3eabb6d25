"""The columns of the tables of npf, each once; declarations have those that dgn has too."""
