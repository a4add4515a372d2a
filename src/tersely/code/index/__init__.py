"""All files of a repository as facts at a revision: scan what is there, store what is known,
refresh what changed.
"""
