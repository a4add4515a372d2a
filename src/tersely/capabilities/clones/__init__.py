"""Questions about functions that resemble each other."""
