"""The states that programs say of themselves, where others act on them."""

WORKING = "working"
PERMISSION = "waits for permission"
LIMITED = "limited until "  # before the time when they may go on, by what their makers allow
ALLOW, DENY = "allow", "deny"  # what the person says to an agent that waits for permission
