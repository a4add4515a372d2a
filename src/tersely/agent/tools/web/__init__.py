"""Tools for the web: what is behind a URL, and pages in a browser that the user has."""
