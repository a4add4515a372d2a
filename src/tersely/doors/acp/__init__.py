"""The coding agent in editors: the Agent Client Protocol over standard streams."""
