"""Parts of languages whose one module would be too long."""
