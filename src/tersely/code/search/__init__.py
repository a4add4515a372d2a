"""Finding symbols by their meaning, by their names, and by their text."""
