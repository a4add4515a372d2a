"""What each operation does: a function of the relay and the request to what is told, by the
operation's name.
"""
