"""What a build will take, before it begins: with the built-in models, or with models at an endpoint."""
