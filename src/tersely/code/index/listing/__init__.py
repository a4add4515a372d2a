"""The files that belong to a repository, by what git says, what ignore files say, and what is never
source.
"""
