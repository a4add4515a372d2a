"""What the nodes of each language mean for the order in which its statements run."""
