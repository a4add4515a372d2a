"""How calls of tools are asked for and read."""
