"""A machine that has joined the relay of another: its tools ask at the sockets of its home, as
ever.
"""
