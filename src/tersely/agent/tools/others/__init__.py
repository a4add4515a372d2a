"""What others are asked: servers of the Model Context Protocol, and the relay."""
