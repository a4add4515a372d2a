"""What travels between a relay and whoever asks it: where it listens, frames, envelopes, answers."""
