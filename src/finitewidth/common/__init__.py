"""What every layer uses: errors, settings, result files, provenance, progress."""
