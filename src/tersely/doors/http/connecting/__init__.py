"""Connections of HTTP: which are accepted, which are ended, and what bytes are answered that are no request."""
