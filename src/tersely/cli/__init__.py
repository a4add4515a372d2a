"""The command line: one projection of the catalogue, polished by hand."""
