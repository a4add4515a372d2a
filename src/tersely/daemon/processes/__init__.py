"""The processes that analyse: who waits for which, and what one does."""
