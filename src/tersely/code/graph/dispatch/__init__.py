"""From a value and the name of a member to what is meant: along classes, traits, literals and
frameworks.
"""
