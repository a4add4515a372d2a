"""What a call reaches."""
