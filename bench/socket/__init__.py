"""What the relay's socket costs beside an echo of the same bytes."""
