"""What is done with each type of envelope: functions of the clients, of the connection that it came by, and of it."""
