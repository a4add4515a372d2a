"""Measurements of Tersely against truths and peers that others made. Not part of the installed
program.
"""
