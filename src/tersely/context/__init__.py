"""What is worth showing of code, and how: evidence, rank, selection and rendering of context packs."""
