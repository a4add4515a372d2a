"""Which calls reach a definition."""
