"""Messages between agents on one machine, over TCP on 127.0.0.1: `ai-talk`.

It needs the standard library alone and imports nothing outside this folder, which runs wherever it
is copied to: `python talk send …`, or through `scripts/` in a checkout.
"""
