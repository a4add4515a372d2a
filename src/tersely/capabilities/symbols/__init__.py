"""Questions about one symbol, or some that a query means."""
