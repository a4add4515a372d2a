"""Code knows code: one repository's symbols, edges and packs."""
