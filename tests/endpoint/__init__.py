"""A model server on the loopback that speaks OpenAI's protocol and misbehaves on demand."""
