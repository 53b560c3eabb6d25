"""Pages that tell how far the papers hold, made from results only."""
