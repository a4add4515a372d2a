"""What the log shows: one module a kind of entry."""
