"""The place where a message is written, and what stands there already."""
