"""The states that programs say of themselves, where others act on them."""

WORKING = "working"
IDLE, GONE = "idle", "gone"
PERMISSION = "waits for permission"
ALLOW, DENY = "allow", "deny"  # what the person says to an agent that waits for permission
