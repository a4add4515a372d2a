"""What a program writes to a terminal, and what a person types there, as plain values."""
