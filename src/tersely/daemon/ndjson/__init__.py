"""The daemon's wire: one JSON value a line."""
