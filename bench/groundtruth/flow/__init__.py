"""Truths about what happens inside functions: control flow, data flow, slices, complexity."""
