"""From words to vectors: the table that comes with us, and models that a user may choose."""
