"""Who is connected to the relay's socket, and what is sent to whom."""
