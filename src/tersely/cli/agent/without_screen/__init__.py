"""One turn without a screen: what is asked, and how it is printed."""
