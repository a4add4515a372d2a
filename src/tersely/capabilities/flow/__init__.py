"""The capabilities about the inside of functions."""
