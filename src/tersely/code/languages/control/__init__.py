"""The meaning of each language's nodes for the order in which its statements run."""
