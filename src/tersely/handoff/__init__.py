"""What one session hands to the next: a brief at its start, a summary at its end."""
