"""The catalogue as tools of the Model Context Protocol. Only `client.py`, which asks other servers,
needs an SDK.
"""
