"""What the prompts of the agent cost."""
