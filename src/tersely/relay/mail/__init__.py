"""Messages between agents: accepted once, kept until they are answered for."""
