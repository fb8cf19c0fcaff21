"""Trees of texts: leaves from the documents, and summaries above them."""
