"""Other systems, measured as released beside this one: each in an environment of its own, model calls stubbed alike."""
