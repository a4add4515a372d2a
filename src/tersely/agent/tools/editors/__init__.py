"""Hands in the editor that the user is in: found by workspace or from inside of it, asked over its
own socket.
"""
