"""Processes of ours that live longer than a question: how they start, report, hold their lock, log
and end.
"""
