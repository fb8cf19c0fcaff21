"""A folder for each page of the app; common/ has what they share."""
