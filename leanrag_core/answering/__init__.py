"""From a trace to an answer: written by a language model from the context alone, or made of its sentences."""
