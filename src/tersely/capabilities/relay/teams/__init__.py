"""Capabilities of agents that work on one project: claims, the board, permissions, spending."""
