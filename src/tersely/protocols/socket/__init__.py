"""How bytes on the relay's socket become envelopes, and envelopes bytes."""
