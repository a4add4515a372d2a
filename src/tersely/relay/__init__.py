"""The relay: threads with their state, artifacts, events and calls, kept by one process for all
agents.
"""
