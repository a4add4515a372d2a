"""The tests that a change reaches: the symbols that changed, who runs them, and who imports their
files.
"""
