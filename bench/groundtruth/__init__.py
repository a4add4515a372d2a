"""Answers of the engine compared with public ground truth: one adapter a suite, one scorer for all."""
