"""What the relay remembers, behind about a dozen verbs; nothing outside knows which database keeps
it.
"""
