"""The tangent kernel of fully connected networks at initialisation: drawn exactly, or computed."""
