"""What goes into the prompt: how a window is shared out, what is put into it unasked, and what
leaves it.
"""
