"""How each language writes its tests, and the programs that run them."""
