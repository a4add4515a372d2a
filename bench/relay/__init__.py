"""What the relay costs beside the floors below it: bare HTTP, a bare disk, an empty store."""
