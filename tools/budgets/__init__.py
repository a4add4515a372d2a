"""Exact budgets: figures that do not depend on the machine, each beside its limit."""
