"""An index as static files that open from a disk: tables and views in shards, and the page that draws them."""
