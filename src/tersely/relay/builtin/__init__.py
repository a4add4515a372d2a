"""The capabilities that every relay offers by itself."""
