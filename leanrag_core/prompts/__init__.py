"""Prompt texts, <task>.v<N>.md, and their catalog."""
