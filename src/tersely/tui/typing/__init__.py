"""Where a message is written, and what stands there already."""
