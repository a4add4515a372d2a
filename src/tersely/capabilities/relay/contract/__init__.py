"""The contract of the relay over HTTP: operations, and the values of their bodies."""
