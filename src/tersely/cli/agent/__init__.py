"""The coding agent on the command line: `chat`, with a screen or without one, and `sessions`."""
