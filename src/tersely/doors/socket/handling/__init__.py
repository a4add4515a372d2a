"""What is done with each type of envelope. Functions take the clients, the connection it came by,
and the envelope.
"""
