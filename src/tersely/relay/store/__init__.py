"""The memory of the relay, behind about a dozen verbs; nothing outside knows which database keeps
it.
"""
