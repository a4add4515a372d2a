"""Doors: bytes to questions, answers to bytes."""
