"""Capabilities that ask a relay rather than a repository."""
