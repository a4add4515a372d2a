"""What covers the screen until it is answered."""
