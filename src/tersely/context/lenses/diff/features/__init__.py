"""Evidence for a piece of code that a change may need: one module a source of it."""
