"""What agents that work on one project agree on: who changes what, and what there is to do."""
