"""Reports of coverage, read: one module for those that are written alike."""
