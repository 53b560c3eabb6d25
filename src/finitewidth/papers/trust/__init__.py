"""Can we trust NTK theory."""
