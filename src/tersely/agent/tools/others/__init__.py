"""The tools that ask others: servers of the Model Context Protocol, and the relay."""
