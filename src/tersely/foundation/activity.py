"""What programs say that they do, where others act on it."""

WORKING = "working"
LIMITED = "limited until "  # before the time when they may go on, by what their makers allow
