"""The commands that speak about the program itself, a module each theme, imported when one is meant."""
