"""What can be asked of the relay over HTTP, described once: the server, its OpenAPI document and the client follow."""
