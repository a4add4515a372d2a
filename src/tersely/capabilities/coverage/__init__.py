"""What can be asked of what ran."""
