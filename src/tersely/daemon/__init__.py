"""The code daemon: a long-lived process that keeps one repository's index warm, and the client that
asks it.
"""
