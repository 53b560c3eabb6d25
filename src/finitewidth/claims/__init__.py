"""What the papers claim and print, judged by what a run measured."""
