"""What two revisions of Tersely find in the same repositories, compared."""
