"""Finding symbols by what they do, by what they are called, and by what is written in them."""
