"""What is kept on disk: files of this user alone, database drivers, hashes of content."""
