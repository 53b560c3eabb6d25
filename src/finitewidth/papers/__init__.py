"""What belongs to one paper, in a folder for each."""
