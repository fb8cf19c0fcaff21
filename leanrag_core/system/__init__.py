"""What the process is and has: environment, addresses, threads."""
