"""The record of words, calls and tokens, kept so that a program that is killed at any moment has
lost nothing it showed.
"""
