"""What was said, called and spent, kept so that a program that is killed at any moment has lost
nothing it showed.
"""
