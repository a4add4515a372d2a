"""Which files and symbols a task is about, told from its text alone."""
