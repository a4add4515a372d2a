"""Tokens and coverage of need: what each way of asking shows of what real commits went on to touch
and to call.
"""
