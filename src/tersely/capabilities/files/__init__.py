"""Questions about files and directories."""
