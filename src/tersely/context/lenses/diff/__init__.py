"""Candidates around a change: the symbols whose lines differ, and those that the rest of the change
may need.
"""
