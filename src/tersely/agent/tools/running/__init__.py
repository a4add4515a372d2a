"""Programs that the agent runs: confined, bounded in time, output and number, and with nothing left
of them.
"""
