"""Settings of others changed as text: one entry more or less, and all the rest as it was."""
