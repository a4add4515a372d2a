"""The tools of the agent: what a model may call, what it is shown of the result, and what it may
not do.
"""
