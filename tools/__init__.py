"""What makes the files that ship: models, vocabularies, pages."""
