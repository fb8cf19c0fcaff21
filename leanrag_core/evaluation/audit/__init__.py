"""How far judgements can be trusted: order, length, repetition, agreement."""
