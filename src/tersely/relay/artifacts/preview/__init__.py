"""The previews that an agent is shown instead of whole artifacts: at most `PREVIEW_BYTES` of text,
made for its type.
"""
