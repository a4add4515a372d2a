"""What an agent is shown of an artifact instead of all of it: at most `PREVIEW_BYTES` of text, made
for its type.
"""
