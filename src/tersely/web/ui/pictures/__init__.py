"""Pictures: drawings laid out here, as elements of SVG within a page."""
