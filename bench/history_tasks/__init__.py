"""Agents measured on tasks from a repository's own history: the tests of a commit fail before it
and pass after it.
"""
