"""What is promised of messages, under load, crashes and hostile clients."""
