"""The handling of each type of envelope. Functions take the clients, the connection it came by, and
the envelope.
"""
