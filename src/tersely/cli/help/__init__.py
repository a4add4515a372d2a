"""Help: the overview, the manual, and what a shell can complete."""
