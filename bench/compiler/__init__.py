"""Our call edges beside those that a compiler has found."""
