"""What a program that runs as an agent may still use: read from its screen and its hooks."""
