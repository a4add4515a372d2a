"""The parts of code that are worth showing, and how: evidence, rank, selection and rendering of
context packs.
"""
