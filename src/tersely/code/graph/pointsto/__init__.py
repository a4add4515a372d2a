"""The values that an expression may have: equations, and the solver of those that a question needs."""
