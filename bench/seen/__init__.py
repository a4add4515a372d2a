"""Tokens that an agent pays until it has seen all the code that a task changes."""
