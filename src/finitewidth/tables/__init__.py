"""Tables: one renderer per table; a renderer typesets rows and computes nothing."""
