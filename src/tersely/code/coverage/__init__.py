"""Reports of coverage and of failed tests, read into plain values and placed in the
repository.
"""
