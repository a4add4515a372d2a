"""Services behind sockets of their own: code daemons, and whoever speaks as they do."""
