"""The settings of a run: sections with types and sources, presets, and overrides."""
