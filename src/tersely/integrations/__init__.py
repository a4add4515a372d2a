"""The things that coding agents read: their configuration, the calls of their hooks, and the texts
that tell them of Tersely.
"""
