"""The index on disk: its tables, how they are written, and symbols looked up in them."""
