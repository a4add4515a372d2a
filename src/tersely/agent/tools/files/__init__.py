"""Files of the repository as tools see them: found without leaving it, read as lines, replaced in
one step.
"""
