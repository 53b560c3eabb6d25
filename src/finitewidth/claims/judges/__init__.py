"""From rows to the comparisons a claim makes: one pure function per claim."""
