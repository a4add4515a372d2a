"""Answers: in words and within a budget, in pages, later, and not sent twice."""
