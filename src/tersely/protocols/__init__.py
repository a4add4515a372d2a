"""How bytes become calls and answers become bytes; no capability is spelled twice."""
