"""The stream that a program writes to a terminal, and a person types there, as plain values."""
