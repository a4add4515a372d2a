"""The handoff from one session to the next: a brief at its start, a summary at its end."""
