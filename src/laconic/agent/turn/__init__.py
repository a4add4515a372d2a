"""One turn: the message is put together, the model asked, and its calls made, until it answers."""
