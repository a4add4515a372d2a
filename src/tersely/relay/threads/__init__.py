"""Threads: their state, events, reports, and what of them leaves the relay."""
