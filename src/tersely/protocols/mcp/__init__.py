"""The catalogue as tools of the Model Context Protocol. `server.py` alone knows the protocol's SDK."""
