"""The protocols of servers: what one request is sent as, and what its answer says."""
