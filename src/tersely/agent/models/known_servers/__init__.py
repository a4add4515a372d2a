"""The knowledge of servers before they are asked: hosts and families of models, keys, what was
found out earlier.
"""
