"""A repository that does its worst, and every question asked about it."""
