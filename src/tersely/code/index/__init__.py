"""All files of a repository as facts at a revision: files are scanned, their facts stored, and changed
files refreshed.
"""
