"""From a syntax tree to routines: points, the edges between them, and the reads and writes of each
point.
"""
