"""Any program as an agent: run in a terminal of its own, its lines read as commands, messages typed
in.
"""
