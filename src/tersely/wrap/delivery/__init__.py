"""Texts on their way into a program: what waits, how it is handed over or typed, and whether it was
taken.
"""
