"""What programs ask over the wire: an HTTP API, a chat route in OpenAI's form, and tools of the Model Context Protocol.

All of them ask one workbench, by the same functions (asking.py, entities.py), with the same bound of work at one time.
"""
