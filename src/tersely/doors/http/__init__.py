"""The relay over HTTP: its routes, its stream of events, and its pages."""
