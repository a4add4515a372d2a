"""Agreements of agents that work on one project: who changes what, and what there is to do."""
