"""What a very small model does with tasks in a repository, for each way of asking for calls."""
