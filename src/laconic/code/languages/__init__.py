"""One value a language."""
