"""Colours of the workbench, light and dark: one source for style sheet, charts and the layered graph."""

from dataclasses import dataclass

# name -> (light, dark). Text has contrast 4.5 or more on the page, marks 3.4 or more.
_COLOURS = {
    "bg": ("#FFFFFF", "#16181B"),
    "side": ("#F7F6F3", "#101214"),
    "surf": ("#F4F3F0", "#1F2226"),
    "band": ("#FAF9F7", "#1A1D20"),
    "text": ("#20211F", "#E9E7E3"),
    "mute": ("#63625D", "#A3A6AB"),
    "line": ("#E3E1DB", "#30343A"),
    "prim": ("#4048BF", "#7C86F7"),
    "onprim": ("#FFFFFF", "#16181B"),
    "seed": ("#C64E07", "#FF9350"),
    "path": ("#2368A8", "#6DB4F5"),
    "pathfill": ("#EAF2F9", "#1D2C3B"),
    "lca": ("#6B1A59", "#F5B5E6"),
    "inter": ("#009470", "#2DB58E"),
    "base": ("#85827A", "#83878E"),
    "tree": ("#8D8B84", "#70757D"),
    "chunk": ("#634A00", "#F0D77A"),
    "entered": ("#1F6FAE", "#6FB6F2"),
    "left": ("#A8480B", "#F2A068"),
    "error": ("#A3262A", "#FF8F8A"),
    # The columns of a comparison, each with a letter, a marker and a line style beside its colour.
    "column-a": ("#4048BF", "#8E97FF"),
    "column-b": ("#0C938B", "#2FAFA6"),
    "column-c": ("#8A1C55", "#F7B0D2"),
    "column-d": ("#8F6400", "#E3C24F"),
}
_LAYERS = (
    ("#D6E3EE", "#26384A"),
    ("#AFC9DE", "#33526E"),
    ("#7FA8C9", "#48759B"),
    ("#3F739F", "#7FB0DA"),
    ("#1D4F7C", "#C3DFF5"),
)
# Colours that tell clusters apart on a map, where labels name them.
_CLUSTERS = (
    ("#2368A8", "#6DB4F5"),
    ("#C64E07", "#FF9350"),
    ("#00805F", "#2DB58E"),
    ("#6B1A59", "#F5B5E6"),
    ("#8F6400", "#E3C24F"),
    ("#4048BF", "#8E97FF"),
    ("#A3262A", "#FF8F8A"),
    ("#0B7C83", "#2FC4CC"),
    ("#5B6B1F", "#B9CC6A"),
    ("#7A4FA3", "#C79BEF"),
)
_LAYER_INKS = (
    ("#20211F", "#E9E7E3"),
    ("#20211F", "#E9E7E3"),
    ("#20211F", "#FFFFFF"),
    ("#FFFFFF", "#101214"),
    ("#FFFFFF", "#101214"),
)
_NEUTRAL = "mute"


def known_colour(name: str) -> str:
    """Return the name where it is one of the palette's, else that of a neutral colour: traces name colours freely."""
    return name if name in _COLOURS else _NEUTRAL


@dataclass(frozen=True)
class Palette:
    """The colours of one theme: by name, of the layers, and to tell clusters apart."""

    dark: bool
    colours: dict[str, str]
    layers: tuple[str, ...]
    layer_inks: tuple[str, ...]
    clusters: tuple[str, ...]

    def __getitem__(self, name: str) -> str:
        return self.colours[name]

    def layer(self, number: int) -> str:
        """Return the fill of a layer; layers above the ramp share its last step."""
        return self.layers[min(number, len(self.layers) - 1)]

    def css_variables(self) -> str:
        """Return the palette as declarations of --lr-* custom properties."""
        return "".join(f"{name}:{value};" for name, value in self.variables().items())

    def variables(self) -> dict[str, str]:
        """Return the --lr-* custom properties by their names."""
        variables = {f"--lr-{name}": value for name, value in self.colours.items()}
        for n, (layer, ink) in enumerate(zip(self.layers, self.layer_inks, strict=True)):
            variables |= {f"--lr-l{n}": layer, f"--lr-l{n}k": ink}
        return variables


def palette(*, dark: bool) -> Palette:
    """Return the palette of the dark or the light theme."""
    side = 1 if dark else 0
    return Palette(
        dark=dark,
        colours={name: pair[side] for name, pair in _COLOURS.items()},
        layers=tuple(pair[side] for pair in _LAYERS),
        layer_inks=tuple(pair[side] for pair in _LAYER_INKS),
        clusters=tuple(pair[side] for pair in _CLUSTERS),
    )
