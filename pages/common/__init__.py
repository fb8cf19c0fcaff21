"""What all pages share: session, memory, forms, frame."""
