"""What pages share: frame, session, forms, panels, drawn components."""
