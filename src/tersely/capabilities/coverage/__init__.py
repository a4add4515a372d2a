"""The capabilities about what ran."""
