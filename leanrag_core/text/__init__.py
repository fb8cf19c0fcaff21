"""What is read in a text: words, sentences, tokens; and texts from elsewhere in plain words."""
