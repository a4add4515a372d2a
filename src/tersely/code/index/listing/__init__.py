"""Which files belong to a repository: what git says, what ignore files say, and what is never
source.
"""
