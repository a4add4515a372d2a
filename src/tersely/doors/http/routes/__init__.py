"""The handlers of operations, by their names: functions of the relay and the request to what is
told.
"""
