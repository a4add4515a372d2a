"""How fast an answer is shown while it is written, and whether keys wait meanwhile."""
