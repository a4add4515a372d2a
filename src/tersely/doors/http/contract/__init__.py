"""What the relay is asked over HTTP: operations, and the values of their bodies."""
