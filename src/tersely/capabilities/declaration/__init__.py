"""The declaration of capabilities and parameters, and arguments checked by it."""
