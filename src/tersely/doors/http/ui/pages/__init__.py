"""The pages: each a function of the relay and what was asked for to a template and its values."""
