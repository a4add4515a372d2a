"""The files that belong to a repository: by git's own listing, by ignore files, and without
directories that never hold source.
"""
