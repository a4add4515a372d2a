"""Ways to say code in fewer words: without comments, imports on one line, sketches, aliases, less detail."""
