"""The network: who asks over it, what may be asked, and by which protocol."""
