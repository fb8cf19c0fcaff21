"""Long work in processes of its own: specification, events, state."""
