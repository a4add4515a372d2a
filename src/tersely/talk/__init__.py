"""Messages between agents on one machine, over TCP on 127.0.0.1: `ai-talk`.

It needs the standard library alone, and nothing that has to be installed, so that `scripts/` run from a plain checkout.
"""
