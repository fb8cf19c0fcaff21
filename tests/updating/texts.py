"""Short documents, each about things of its own; the first two share some names."""

TEXTS = {
    "bees.txt": "Honey bees pollinate oilseed rape in May. Varroa destructor is a mite that weakens honey bee "
    "colonies. Beekeepers treat Varroa destructor with oxalic acid in winter. White clover feeds honey "
    "bees in summer.",
    "hives.txt": "Lorenzo Langstroth patented the movable frame hive in 1852. Beekeepers inspect movable frames for "
    "Varroa destructor. Honey bees build comb in the movable frames. Langstroth hives are sold in "
    "Philadelphia.",
    "radium.txt": "Marie Curie discovered radium in Paris with Pierre Curie. Radium glows in the dark. Marie Curie won "
    "the Nobel Prize in Chemistry in 1911. The Radium Institute was built in Paris for Marie Curie.",
    "harbour.txt": "Ada Thornbury designed the lighthouse of Marram Point. The lighthouse guides ships into Grey "
    "Harbour. Bela Kraus repaired the fog bell of Grey Harbour. Grey Harbour trades with Corisande Bay.",
    "chess.txt": "Emanuel Lasker won the World Chess Championship in Berlin. Wilhelm Steinitz lost the title to "
    "Emanuel Lasker. Steinitz founded the theory of positional play. Berlin hosted the chess match in "
    "1894.",
    "glacier.txt": "The Aletsch Glacier lies in the Bernese Alps. Louis Agassiz studied the Aletsch Glacier from a "
    "stone hut. The Bernese Alps feed the Rhone River. Agassiz proposed the theory of the ice age.",
}
OWLS = (
    "The Ural Owl hunts voles in the Carpathian Forest. Milena Dvorak counted the Ural Owl near Poloniny. "
    "The Carpathian Forest shelters lynx and wolf. Milena Dvorak wrote a field guide to the Carpathian "
    "Forest."
)
MITES = (
    "Varroa destructor came to Europe from Asia. Tropilaelaps is a mite that harms honey bees in Asia. "
    "Beekeepers treat Tropilaelaps with formic acid. Jeffery Pettis studied Tropilaelaps in Thailand."
)


def files(**more: str) -> list[tuple[str, bytes]]:
    """Return the documents as uploads, and others by name."""
    return [(name, text.encode()) for name, text in {**TEXTS, **more}.items()]
