"""The index itself: refreshing it, and what is in it."""
