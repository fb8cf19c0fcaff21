"""Published claims recomputed from recorded outputs that anybody can fetch: which hold, which fail, which are open."""
