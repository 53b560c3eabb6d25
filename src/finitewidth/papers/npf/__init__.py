"""Neural Path Features and Neural Path Kernel, and its earlier version npf0."""
