"""What verbs share: options, reading of sources, printing."""
