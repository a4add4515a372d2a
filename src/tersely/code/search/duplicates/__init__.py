"""Functions that resemble each other: shingles of normalised tokens, MinHash, clusters, and what
differs.
"""
