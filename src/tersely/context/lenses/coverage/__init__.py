"""The coverage lens: what ran, what failed, and what only failing tests ran."""
