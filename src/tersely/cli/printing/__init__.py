"""Printing: the streams of a command, answers, errors, and progress."""
