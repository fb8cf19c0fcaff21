"""Contrast by the formula of WCAG 2.2: (L1 + 0.05) / (L2 + 0.05) of the relative luminances."""

import re

import pytest

from leanrag_core.figures.palette import Palette, known_colour, palette

TEXTS = ("text", "mute", "prim", "error")
MARKS = ("prim", "seed", "path", "lca", "inter", "base", "tree", "chunk", "entered", "left", "error")


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(colour: str, other: str) -> float:
    dark, light = sorted((luminance(colour), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.fixture(params=[False, True], ids=["light", "dark"])
def colours(request: pytest.FixtureRequest) -> Palette:
    return palette(dark=request.param)


def test_the_formula_gives_the_known_values() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("ground", ["bg", "side", "surf", "band"])
@pytest.mark.parametrize("name", TEXTS)
def test_text_has_contrast_4_5_on_every_ground(colours: Palette, name: str, ground: str) -> None:
    assert contrast(colours[name], colours[ground]) >= 4.5


@pytest.mark.parametrize("name", MARKS)
def test_marks_have_contrast_3_4_on_the_page(colours: Palette, name: str) -> None:
    assert contrast(colours[name], colours["bg"]) >= 3.4


def test_clusters_of_a_map_have_colours_of_their_own_that_are_seen_on_the_page(colours: Palette) -> None:
    assert len(set(colours.clusters)) == 10
    assert colours["tree"] not in colours.clusters
    assert min(contrast(colour, colours["bg"]) for colour in colours.clusters) >= 3.4


def test_text_on_marks_can_be_read(colours: Palette) -> None:
    # a seed's rank, the name in the LCA's box, the name in a box on the path, the word on a button
    pairs = [("bg", "seed"), ("bg", "lca"), ("text", "pathfill"), ("onprim", "prim")]
    assert {pair: contrast(colours[pair[0]], colours[pair[1]]) >= 4.5 for pair in pairs} == dict.fromkeys(pairs, True)


def test_names_can_be_read_on_every_layer_of_a_figure(colours: Palette) -> None:
    for fill, ink in zip(colours.layers, colours.layer_inks, strict=True):
        assert contrast(fill, ink) >= 4.5


def test_layers_above_the_ramp_share_its_last_step(colours: Palette) -> None:
    assert colours.layer(4) == colours.layer(9) == colours.layers[-1]


def test_neighbouring_layers_are_not_the_same_colour(colours: Palette) -> None:
    assert len(set(colours.layers)) == len(colours.layers) == 5


def test_the_style_sheet_gets_every_colour(colours: Palette) -> None:
    declared = dict(re.findall(r"--lr-([\w-]+):(#[0-9A-F]{6});", colours.css_variables()))
    assert declared == {
        **colours.colours,
        **{f"l{n}": colours.layers[n] for n in range(5)},
        **{f"l{n}k": colours.layer_inks[n] for n in range(5)},
    }


def test_a_colour_that_the_palette_lacks_becomes_a_neutral_one(colours: Palette) -> None:
    assert known_colour("seed") == "seed"
    assert known_colour("crimson);color:red") in colours.colours
    assert known_colour("crimson") == known_colour("") == "mute"
