"""The allowance of a program that runs as an agent: read from its screen and its hooks."""
