"""The thesis, chapter 2."""
