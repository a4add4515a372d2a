"""The steps of a turn, which `agent/loop.py` takes: the message put together, the model asked, its
calls made.
"""
