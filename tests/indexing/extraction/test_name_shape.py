"""Which phrases have the shape of a name."""

import pytest

from leanrag_core.indexing.extraction.name_shape import is_name, named
from leanrag_core.indexing.extraction.sentences import Link, ReadSentence, Sighting


def seen(surface: str, kind: str = "concept") -> Sighting:
    return Sighting(surface, surface.casefold(), kind)


@pytest.mark.parametrize(
    "surface",
    [
        *("https://example.org/a", "www.example.org", "ccx074@coventry.ac.uk", "example.com/docs/page.html"),
        *("BISLIG 7 1,592 7,412 2 754", "7 412", "2019", "12 May 2019", "July", "3.4.1"),
        *("ppc64 337285 fcntl commands", "346267 Compiler warnings"),
        *("x_i = y", "p q", "L/2 , j", "$i variable", "R t", "fdbd751", "INLINEFORM0", "EQREF6", "K. W."),
        *("Algorithm 4.3 , when given a prime number p Algorithm 4.3. T. L. Heath", "of the", "and bees", "bees which"),
        *("new window", "Wayback Machine", "email", "type type"),
        *("Ada Byron 2005", "trio.h triop.h", "ARISING FROM", "r carriage return"),
        *("con- nection", "sentence A.", "Chen et al", "VI", "path.resolve('C:')"),
        *("log(buf.read(2", "fs.rmdir(path[, options"),
        *("afbecd http", "extra2 val5 val6 val7 val8"),
        *("fn timer", "unsigned int flags", "trait impl", "GIMP now ships", "plug-in now supports"),
    ],
)  # fmt: skip
def test_what_is_no_name(surface: str) -> None:
    assert not is_name(seen(surface))


@pytest.mark.parametrize(
    "surface",
    [
        *("Varroa", "T. L. Heath", "J. K. Rowling", "St. Louis", "F-16", "COVID-19", "C++", "World War 2", "Apollo 11"),
        *("Apocalypse Now", "World Cup 2022", "Section 10.2", "oxalic acid", "version 0 quota files"),
        *("facade", "ext3 partition", "file1", "10000 Maniacs", "20000 leagues", "Bell 47", "model 12345"),
        *("Amazon.com", "Yahoo Inc.", "size (in bytes)", "buf.read(offset[, length])"),
        *("联合国大会", "世界人权宣言", "Организация", "מגילה", "ミツバチ", "الأمم المتحدة", "étoile"),
    ],
)  # fmt: skip
def test_what_is_one(surface: str) -> None:
    assert is_name(seen(surface))


def test_a_title_may_have_the_signs_and_verbs_of_a_sentence_but_no_address() -> None:
    assert is_name(seen("Yahoo! is what it was; it will be more", "title"))
    assert not is_name(seen("https://example.org", "title"))


def test_links_follow_the_sightings_that_stay() -> None:
    sightings = (seen("Varroa"), seen("www.example.org"), seen("honey bee"))
    links = (Link(0, 1, "verb", 4.0), Link(0, 2, "verb", 4.0, "weakens"))
    kept = named(ReadSentence(0, 0, 9, "...", sightings, links))
    assert [sighting.surface for sighting in kept.sightings] == ["Varroa", "honey bee"]
    assert kept.links == (Link(0, 1, "verb", 4.0, "weakens"),)
