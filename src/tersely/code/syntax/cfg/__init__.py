"""From a syntax tree to routines: points, the edges between them, and what each point reads and
writes.
"""
