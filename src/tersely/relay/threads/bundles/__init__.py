"""Threads as files: written out whole, read in whole or not at all, and their calls made again."""
