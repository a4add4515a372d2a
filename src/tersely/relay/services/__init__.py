"""Services: programs that answer questions, and what the relay knows of them."""
