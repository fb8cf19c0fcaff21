"""What the program tells a person: codes with values below the pages, sentences at the edge."""
