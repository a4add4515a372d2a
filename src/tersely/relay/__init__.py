"""What agents share: threads with their state, artifacts, events and calls, kept by one process for
all of them.
"""
