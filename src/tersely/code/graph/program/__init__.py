"""The program as the graph reads it: files, and the names that their expressions mention."""
