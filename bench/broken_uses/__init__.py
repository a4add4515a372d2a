"""What a change breaks, against what real commits changed with it and what a checker then refuses."""
