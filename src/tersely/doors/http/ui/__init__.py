"""The relay in a browser: pages made on the server, with a little script for what happens while one
looks.
"""
