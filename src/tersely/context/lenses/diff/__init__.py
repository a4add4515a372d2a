"""What is worth knowing around a change: the symbols whose lines differ, and what the rest of the change may need."""
