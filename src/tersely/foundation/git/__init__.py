"""Git in repositories that are not trusted: what runs it, where its files lie, what it lists."""
