"""The engines: all that differs between the databases that the store runs on."""
