"""Postings and vectors as files beside the index."""
