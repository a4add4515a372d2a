"""The content of the prompt: shares of the window, what is put in unasked, and what leaves."""
