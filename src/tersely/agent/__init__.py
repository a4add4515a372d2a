"""The coding agent: a small model, a loop and tools, known to no screen."""
