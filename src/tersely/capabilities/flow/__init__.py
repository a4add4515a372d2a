"""What happens inside functions."""
