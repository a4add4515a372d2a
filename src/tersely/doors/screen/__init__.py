"""The screen of the coding agent. Only this package knows Textual."""
