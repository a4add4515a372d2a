"""Registrations of what frameworks call: by routes, topics, templates, registries and injection."""
