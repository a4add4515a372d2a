"""What differs between the databases that the store runs on."""
