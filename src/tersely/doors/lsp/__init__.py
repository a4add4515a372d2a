"""Code answers in editors: a small language server over the catalogue."""
