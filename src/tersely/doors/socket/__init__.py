"""The relay's socket: connections, and what is sent to whom."""
