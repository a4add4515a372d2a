"""The task lens: what somebody who is given a task in words is likely to need."""
