"""Packs as text."""
