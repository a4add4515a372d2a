"""Candidates raised from name to body until the budget is full."""
