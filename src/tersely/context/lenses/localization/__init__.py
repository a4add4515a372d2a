"""The files and symbols that a task is about, told from its text alone."""
