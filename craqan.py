"""CRaQAn: question answering that needs coreference resolution across two or three sentences of a passage.

    import craqan
    rows = craqan.load()  # the config "default", all splits, from the folder of this file
    rows = craqan.load("articles", split="train")
    rows = craqan.load(revision="v1.0.0")  # a released version, from the Hub (REPO)
    rows = craqan.load("original", revision="<commit>")  # Edge-Pyxos/CRaQAn_v1, in the schema of "default"

Schema, releases and builder are one file, which needs the standard library and `datasets` (2.21 to 5.2) only, since
datasets before 4.0 also runs it alone, as a script.
"""

import ast
import hashlib
import json
import logging
import re
import socket
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

import datasets
from datasets import Features, Sequence, Value
from datasets.exceptions import DatasetGenerationError, DatasetNotFoundError

RELEASES = {"1.0.0": "78 articles, 404 pairs: written, read and proven by models, not yet read by people."}
VERSION = list(RELEASES)[-1]

# Never "<anyone>/craqan": datasets refuses a repository named like a script that it holds (craqan.py).
REPO = "Edge-Pyxos/CRaQAn-dataset"
ORIGINAL_REPO = "Edge-Pyxos/CRaQAn_v1"
LICENSE = "cc-by-4.0"
DESCRIPTION = (
    "Questions that can only be answered by resolving a coreference across two or three sentences of a passage."
)
CITATION = """\
@article{grzywinski2023craqan,
  title = {Releasing the {CRaQAn} (Coreference Resolution in Question-Answering): An open-source dataset and dataset
    creation methodology using instruction-following models},
  author = {Grzywinski, Rob and D'Arcy, Joshua and Naidoff, Rob and Shukla, Ashish and Browne, Alex and
    Gibbons, Ren and Bent, Brinnae},
  journal = {arXiv preprint arXiv:2311.16338},
  year = {2023}
}
@misc{craqan2026,
  title = {{CRaQAn}: the dataset, and the machine that makes such datasets, version VERSION},
  author = {{The CRaQAn maintainers}},
  year = {2026}
}
""".replace("VERSION", VERSION)

CONFIGS = {
    "default": "one row a question: passage, answer, required sentences, coreference spans; split by article",
    "random": "the rows of default, split at random, passage by passage; in releases",
    "domain": "the rows of default, split by domain; in releases of several domains",
    "articles": "the articles in full, with the offsets of their sections",
    "provenance": "how each pair came to be: rounds, verdicts, votes, tokens; joined by id",
    "rejected": "the pairs that were turned down, by whom and why",
    "v1": "the twelve columns of Edge-Pyxos/CRaQAn_v1",
    "original": "the rows of Edge-Pyxos/CRaQAn_v1, read from the Hub, in the schema of default",
}
SPLITS = {name: ("train",) if name in ("v1", "original") else ("train", "validation", "test") for name in CONFIGS}

# `Sequence(Value(...))` and `[{...}]` mean the same under datasets 2.21 to 5.2; `List` exists only since 4.0.
_SPAN = {
    "sentence_index": Value("int32"),
    "start": Value("int32"),  # from the start of the sentence, in characters
    "end": Value("int32"),
    "text": Value("string"),
}
_SENTENCE = {"text": Value("string"), "start": Value("int32"), "end": Value("int32")}  # from the start of section_text
_COREFERENCE = {"kind": Value("string"), "mention": _SPAN, "antecedent": _SPAN}
_STEP = {
    "head": Value("string"),
    "relation": Value("string"),
    "tail": Value("string"),
    "sentence_index": Value("int32"),
}
_CANDIDATE = {
    "question": Value("string"),
    "answer": Value("string"),
    "required_sentence_indices": Sequence(Value("int32")),
    "coreferences": [_COREFERENCE],
}
_PASSAGE = {
    "article_id": Value("string"),
    "article_title": Value("string"),
    "domain": Value("string"),
    "section_id": Value("string"),
    "section_path": Sequence(Value("string")),  # empty for the summary
    "section_text": Value("string"),
    "sentences": [_SENTENCE],
}
_VERDICT = {
    "reviewer": Value("string"),
    "is_quality": Value("bool"),
    "reason": Value("string"),
    "problems": Sequence(Value("string")),
}

FEATURES = {
    "default": Features(
        {
            "id": Value("string"),
            **_PASSAGE,
            **_CANDIDATE,
            "derivation": [_STEP],
            "kind": Value("string"),  # pronominal, nominal or mixed
            "distance": Value("int32"),  # from the first to the last required sentence
            "generator": Value("string"),  # who made it: "model:<name>" or "rules:<version>"
            "reviewed_by": Sequence(Value("string")),  # "checks", "model:<name>", "person:<pseudonym>"
            "human_reviews": Value("int32"),  # how many people judged it
        }
    ),
    "articles": Features(
        {
            "article_id": Value("string"),
            "article_title": Value("string"),
            "domain": Value("string"),
            "text": Value("string"),  # Markdown
            "sections": [
                {
                    "section_id": Value("string"),
                    "path": Sequence(Value("string")),
                    "start": Value("int32"),  # from the start of text, in characters
                    "end": Value("int32"),
                }
            ],
            "url": Value("string"),
            "license": Value("string"),
            "revision": Value("string"),
            "retrieved_at": Value("string"),
            "author": Value("string"),
        }
    ),
    "provenance": Features(
        {
            "id": Value("string"),
            "generator": Value("string"),
            "recipe": Value("string"),  # digest of prompts, models and code version
            "code_version": Value("string"),
            "segmenter": Value("string"),
            "rounds": [{"index": Value("int32"), **_CANDIDATE, "verdicts": [_VERDICT]}],
            "votes": [{**_VERDICT, "is_person": Value("bool"), "seconds": Value("float32")}],
            "proof": [{"context": Value("string"), "answer": Value("string"), "is_right": Value("bool")}],
            "prompt_tokens": Value("int64"),
            "completion_tokens": Value("int64"),
        }
    ),
    "rejected": Features(
        {
            "id": Value("string"),
            **_PASSAGE,
            **_CANDIDATE,
            "generator": Value("string"),
            "rejected_by": Sequence(Value("string")),
            "problems": Sequence(Value("string")),
            "reason": Value("string"),
        }
    ),
    "v1": Features(
        {
            "title": Value("string"),
            "article": Value("string"),
            "article_titles": Sequence(Value("string")),
            "article_sections": Sequence(Value("string")),
            "section": Value("string"),
            "section_index": Value("int64"),
            "section_sentences": Value("string"),  # JSON: [{"index": 0, "sentence": "..."}, ...]
            "question": Value("string"),
            "answer": Value("string"),
            "sentences_required": Sequence(Value("int64")),
            "url": Value("string"),
            "time_downloaded": Value("string"),
        }
    ),
}
FEATURES |= dict.fromkeys(("random", "domain", "original"), FEATURES["default"])

_DATA_FILE = re.compile(r"(?P<split>\w+?)(-.*)?\.(?P<format>jsonl|parquet)")
_logger = logging.getLogger("craqan")


class DataError(ValueError):
    """Data that does not have the schema, or is not there; says which file, line and column."""


@dataclass
class CraqanConfig(datasets.BuilderConfig):
    """One config; `original_revision` is the commit or tag of ORIGINAL_REPO that the config "original" reads."""

    original_revision: str = ""


class Craqan(datasets.GeneratorBasedBuilder):
    """Reads `<base_path>/data/<config>/<split>.jsonl` or `<split>-*.parquet`; `base_path` is this file's folder.

    `base_path` may also be "hf://datasets/ORG/NAME@REVISION". Rows are held against FEATURES here, because datasets
    itself fills what is missing and drops what is too much. Raises DataError, inside a DatasetGenerationError.
    """

    BUILDER_CONFIG_CLASS = CraqanConfig
    BUILDER_CONFIGS = [CraqanConfig(name=n, version=VERSION, description=d) for n, d in CONFIGS.items()]
    DEFAULT_CONFIG_NAME = "default"

    def __init__(self, *args, base_path=None, hash=None, config_name=None, **kwargs):
        base_path = str(base_path or Path(__file__).resolve().parent)
        self.files = _files_of(base_path, config_name or self.DEFAULT_CONFIG_NAME, kwargs.get("token"))
        # The cache goes by the hash, so it is made of the data (and this code), whatever hash a caller brings.
        hash = _content_hash([__file__, *sum(self.files.values(), [])])
        super().__init__(*args, base_path=base_path, hash=hash, config_name=config_name, **kwargs)

    def get_exported_dataset_info(self):
        """Nothing: datasets < 4 would hold any data against the row counts of the README beside this file."""
        return datasets.DatasetInfo()

    def _info(self):
        return datasets.DatasetInfo(
            description=DESCRIPTION,
            features=FEATURES[self.config.name],
            citation=CITATION,
            homepage=f"https://huggingface.co/datasets/{REPO}",
            license=LICENSE,
            version=VERSION,
        )

    def _split_generators(self, dl_manager):
        files = self._original_files() if self.config.name == "original" else self.files
        if not files:
            raise DataError(f'The config "{self.config.name}" has no data files in {self.base_path}/data.')
        local = dl_manager.download(files)
        if self.config.name == "original":
            report = self._convert(local["train"]).report
            self.info.description = f"{DESCRIPTION}\n{report}"
            _logger.warning(report)
        return [datasets.SplitGenerator(name=s, gen_kwargs={"files": paths}) for s, paths in local.items()]

    def _original_files(self):
        if not self.config.original_revision:
            raise DataError(
                f'The config "original" reads {ORIGINAL_REPO} from the Hub, at a revision that you name: '
                'craqan.load("original", revision="<commit or tag>").'
            )
        return {"train": sum(_hub_files(ORIGINAL_REPO, self.config.original_revision, None, self.token).values(), [])}

    def _convert(self, files):
        rows = [row for path in files for _, row in _read(path)]
        return convert_original(rows, f"{ORIGINAL_REPO}@{self.config.original_revision}")

    def _generate_examples(self, files):
        if self.config.name == "original":
            yield from enumerate(self._convert(files).rows)
            return
        for shard, path in enumerate(files):
            for line, row in read_rows(path, self.config.name):
                yield f"{shard}-{line}", row


def load(config="default", split=None, revision=None, *, repo=None, data_dir=None, streaming=False, token=None):
    """Load one config: a DatasetDict, or a Dataset if `split` is given ("train", "train[:10]+test", ...).

    Reads `data_dir` (a folder that holds data/; by default this file's folder) and does not touch the network. With
    `revision` (a tag or commit) or `repo` ("ORG/NAME", by default REPO) it reads that release from the Hub instead.
    Raises ValueError for a config or split that does not exist, DataError for data that breaks the schema,
    ConnectionError or datasets' DatasetNotFoundError if the Hub does not give it.
    """
    if config not in CONFIGS:
        raise ValueError(f'There is no config "{config}"; there are {", ".join(CONFIGS)}.')
    if data_dir and (revision or repo):
        raise ValueError("Give either data_dir or the revision (and repo) of a release, not both.")
    if config == "original" and (repo or data_dir):
        raise ValueError(f'The config "original" is read from {ORIGINAL_REPO} alone: give a revision only.')
    options = {}
    if config == "original":
        if revision:
            _require_hub(ORIGINAL_REPO, revision)
        options["original_revision"] = revision or ""
    elif revision or repo:
        data_dir = f"hf://datasets/{usable_name(repo or REPO)}@{revision or 'main'}"
        _require_hub(repo or REPO, revision or "main")
    builder = Craqan(config_name=config, base_path=data_dir, token=token, **options)
    _check_split(split, config, [*builder.files] or SPLITS[config])
    try:
        if streaming:
            return builder.as_streaming_dataset(split)
        builder.download_and_prepare()
        return builder.as_dataset(split)
    except DatasetGenerationError as error:
        if isinstance(error.__cause__, DataError):
            raise error.__cause__ from None
        raise


def _require_hub(repo, revision):
    """Raise ConnectionError at once where the Hub is out of reach: its own client goes on trying for half a minute."""
    hub = urlsplit(datasets.config.HF_ENDPOINT)
    if hub.scheme in getproxies() or "all" in getproxies():
        return  # who can be reached is the proxy's business
    try:
        socket.create_connection((hub.hostname, hub.port or (443 if hub.scheme == "https" else 80)), timeout=5).close()
    except OSError as error:
        raise ConnectionError(
            f"{repo} at {revision} cannot be read from the Hub: there is no way to {hub.netloc}"
            f" ({error.strerror or error}); craqan.load() alone reads the rows of this checkout."
        ) from None


def usable_name(repo):
    """`repo` itself, unless it is no "ORG/NAME" or datasets would refuse it for being named like our script."""
    if not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", repo):
        raise ValueError(f'"{repo}" is no name of a repository; one looks like "{REPO}".')
    if repo.split("/")[1].lower() == "craqan":
        raise ValueError(f'datasets refuses a repository or folder named "craqan" that holds craqan.py: use "{REPO}".')
    return repo


def _check_split(split, config, existing):
    for name in re.findall(r"(?:^|\+)\s*(\w+)", split) if isinstance(split, str) else ():
        if name not in (*existing, "all"):
            raise ValueError(f'There is no split "{name}" in the config "{config}"; there are {", ".join(existing)}.')


def _files_of(base_path, config, token):
    remote = re.fullmatch(r"hf://datasets/([^@]+)@(.+)", base_path)
    if config == "original":
        return {}
    return _hub_files(remote[1], remote[2], config, token) if remote else local_files(Path(base_path, "data"), config)


def local_files(data_dir, config):
    """{split: paths} of one config in a data folder, splits in their usual order; a split without files is absent.

    Raises DataError for a split that should not be there, or that is there in two formats.
    """
    folder, splits = Path(data_dir, config), SPLITS.get(config, ())
    found: dict = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if match := _DATA_FILE.fullmatch(path.name):
            found.setdefault(match["split"], {}).setdefault(match["format"], []).append(str(path))
    for split, formats in found.items():
        if split not in splits:
            raise DataError(f'{folder} holds a split "{split}"; "{config}" knows {", ".join(splits)}.')
        if len(formats) > 1:
            raise DataError(f'{folder} holds "{split}" as {" and as ".join(sorted(formats))}: remove one of them.')
    return {split: next(iter(found[split].values())) for split in splits if split in found}


def _hub_files(repo, revision, config, token):
    """{split: addresses} of a dataset on the Hub, pinned to the commit behind `revision`."""
    try:
        builder = datasets.load_dataset_builder(repo, config, revision=revision, token=token)
    except DatasetNotFoundError:
        raise
    except Exception as error:  # the HTTP library's own errors come through; which library, depends on the versions
        raise ConnectionError(f"{repo} at {revision} cannot be read from the Hub: {error}") from error
    files = {str(split): list(paths) for split, paths in (builder.config.data_files or {}).items()}
    # Without a connection datasets answers with any revision that it has cached, or with a folder of that name.
    if not files or not all(path.startswith("hf://") for paths in files.values() for path in paths):
        raise ConnectionError(f"{repo} at {revision} cannot be read from the Hub: is there a connection?")
    return files


def _content_hash(paths):
    content = hashlib.sha256()
    for path in paths:
        content.update(Path(path).name.encode() + b"\0")
        content.update(path.encode() if "://" in path else Path(path).read_bytes())  # an address holds the commit
    return content.hexdigest()[:16]


def read_rows(path, config):
    """Yield (line, row) of one data file, lines counted from 1; each row has the columns and types of FEATURES[config].

    Raises DataError naming file, line and column.
    """
    for line, row in _read(path):
        check_columns(row, FEATURES[config], f"{path}:{line}")
        yield line, row


def _read(path):
    with open(path, "rb") as file:  # noqa: PTH123 (datasets makes this `open` take addresses when streaming)
        is_parquet = file.read(4) == b"PAR1"  # a downloaded copy may have lost its ending
    if is_parquet:
        files = path if "://" in path else escape(path)
        yield from enumerate(datasets.load_dataset("parquet", data_files=files, split="train", streaming=True), start=1)
        return
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        for line, text in enumerate(file, start=1):
            try:
                yield line, json.loads(text, object_pairs_hook=_unique_keys)
            except ValueError as error:
                raise DataError(f"{path}:{line}: not a JSON object of its own: {error}") from error


def _unique_keys(pairs):
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a key is given twice")
    return row


def check_columns(value, feature, where, column="row"):
    """Raise DataError unless `value` has exactly the fields and types of `feature`; `where` names file and line."""
    if isinstance(feature, dict):
        _require(isinstance(value, dict), "an object", value, where, column)
        for name in [*feature, *(k for k in value if k not in feature)]:
            if (name in value) != (name in feature):
                what = "is missing" if name in feature else "is not in the schema"
                raise DataError(f'{where}: column "{_join(column, name)}" {what}.')
            check_columns(value[name], feature[name], where, _join(column, name))
    elif isinstance(feature, Value):
        _require(_fits(value, feature.dtype), feature.dtype, value, where, column)
    else:
        inner = feature[0] if isinstance(feature, list) else feature.feature
        _require(isinstance(value, list), "a list", value, where, column)
        for i, item in enumerate(value):
            check_columns(item, inner, where, f"{column}[{i}]")


def _join(column, name):
    return name if column == "row" else f"{column}.{name}"


def _require(holds, expected, value, where, column):
    if not holds:
        raise DataError(f'{where}: column "{column}" should be {expected}, not {json.dumps(value, default=str)[:60]}.')


def _fits(value, dtype):
    if dtype == "string":
        return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)  # Arrow cannot hold half a character
    if dtype == "bool":
        return isinstance(value, bool)
    if dtype.startswith("int"):
        limit = 2 ** (int(dtype[3:]) - 1)
        return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e38


class Conversion(NamedTuple):
    """Rows in the schema of "default", and in words how many there were, what was decided and what was left out."""

    rows: list
    report: str


def convert_original(rows, source=ORIGINAL_REPO):
    """Turn rows of Edge-Pyxos/CRaQAn_v1 into rows of the config "default".

    `section_sentences` may be JSON, a Python literal or a list, of {"index", "sentence"} or of plain strings. Whether
    `sentences_required` counts from 0 or 1 is decided over all rows. Coreferences and derivations are empty, since the
    original has none. Nothing is dropped in silence: what cannot be converted is counted and named in the report.
    Raises DataError if the evidence does not decide the base, or if no row can be read.
    """
    read, failed = [], {}
    for number, row in enumerate(rows, start=1):
        try:
            read.append((number, row, *_original_parts(row)))
        except (DataError, KeyError) as error:
            failed[number] = f"column {error} is missing" if isinstance(error, KeyError) else str(error)
    if not read:
        raise DataError(f"{source}: not one of {len(failed)} rows can be read; row 1: {failed.get(1)}")
    base, evidence = _index_base(read, source)
    converted = {}
    rebuilt = 0
    for number, row, sentences, required, _ in read:
        try:
            new, is_slice = _default_row(row, sentences, sorted({i - base for i in required}))
            if new["id"] in converted:
                raise DataError("the same pair as an earlier row")
            converted[new["id"]] = new
            rebuilt += not is_slice
        except DataError as error:
            failed[number] = str(error)
    report = [f"{source}: {len(rows)} rows read, {len(converted)} converted, {len(failed)} left out."]
    report.append(f"sentences_required counts from {base} ({evidence}).")
    report.append(f"{rebuilt} sections rebuilt from their sentences, which are not slices of them.")
    report += [f"row {number} left out: {reason}." for number, reason in sorted(failed.items())]
    return Conversion(list(converted.values()), "\n".join(report))


def _literal(value):
    if not isinstance(value, str):
        return value
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise DataError("section_sentences or sentences_required is neither JSON nor a Python literal")


def _original_parts(row):
    """(sentences, required indices as they stand, first "index" value or None) of one row of the original."""
    for name in ("title", "section", "question", "answer"):
        if not isinstance(row[name], str) or not row[name].strip():
            raise DataError(f"{name} is empty or no text")
    items, required = _literal(row["section_sentences"]), _literal(row["sentences_required"])
    if not isinstance(required, list) or not all(type(i) is int for i in required):
        raise DataError("sentences_required is not a list of numbers")
    if not isinstance(items, list):
        raise DataError("section_sentences is not a list")
    labels = [item.get("index") for item in items if isinstance(item, dict)]
    sentences = [item.get("sentence") if isinstance(item, dict) else item for item in items]
    if not sentences or not all(isinstance(s, str) and s.strip() for s in sentences):
        raise DataError("section_sentences holds something that is no sentence")
    if not any(isinstance(label, int) for label in labels):
        return sentences, required, None
    if labels not in ([*range(len(items))], [*range(1, len(items) + 1)]):
        raise DataError('the "index" values of section_sentences do not count up from 0 or 1')
    return sentences, required, labels[0]


def _index_base(read, source):
    """(0 or 1, the evidence in words): which base fits the range, the answers' words and the "index" values."""
    fits, support, labels = [0, 0], [0, 0], [0, 0]
    for _, row, sentences, required, first in read:
        possible = [base for base in (0, 1) if all(base <= i < len(sentences) + base for i in required)]
        if len(possible) == 1:
            fits[possible[0]] += 1
        if len(possible) == 2:
            words = set(re.findall(r"\w+", row["answer"].lower()))
            texts = [" ".join(sentences[i - base] for i in required).lower() for base in (0, 1)]
            found = [len(words & set(re.findall(r"\w+", text))) for text in texts]
            support[found[1] > found[0]] += found[0] != found[1]
        if first is not None:
            labels[first] += 1
    kinds = {"in range only so": fits, "answer's words only so": support, '"index" starts so': labels}
    evidence = "; ".join(f"{name}: {counts[0]} rows for 0, {counts[1]} for 1" for name, counts in kinds.items())
    zero, one = fits[0] + support[0], fits[1] + support[1]
    for a, b in ((zero, one), labels if zero == one == 0 else (0, 0)):
        if max(a, b) > 3 * min(a, b):
            return int(b > a), evidence
    raise DataError(f"{source}: cannot tell whether sentences_required counts from 0 or 1 ({evidence}).")


def _default_row(row, sentences, required):
    """(row of "default", whether its sentences are slices of the original's section)."""
    if len(required) not in (2, 3) or required[0] < 0 or required[-1] >= len(sentences):
        raise DataError(f"requires sentences {required} of {len(sentences)}, not 2 or 3 that exist")
    index, texts, titles = row.get("section_index"), row.get("article_sections") or [], row.get("article_titles") or []
    known = isinstance(index, int) and index >= 0
    candidates = [row["section"], *(texts[index : index + 1] if known else [])]
    text = next((text for text in candidates if _locate(sentences, text)), None)
    is_slice = text is not None
    text = " ".join(sentences) if text is None else text
    spans = _locate(sentences, text) or []
    article_id = _digest([row["title"], row.get("url")])
    heading = titles[index] if known and index < len(titles) else ""
    new = {
        "id": _digest([[s["text"] for s in spans], row["question"], row["answer"], required]),
        "article_id": article_id,
        "article_title": row["title"],
        "domain": "law",
        "section_id": f"{article_id}#{index if known else _digest(text)}",
        "section_path": [heading] if heading.strip().lower() not in ("", "summary", row["title"].lower()) else [],
        "section_text": text,
        "sentences": spans,
        "question": row["question"],
        "answer": row["answer"],
        "required_sentence_indices": required,
        "coreferences": [],
        "derivation": [],
        "kind": "",
        "distance": required[-1] - required[0],
        # Grzywinski et al. 2023, sections 3.1 and 3.3: GPT-4 made and criticised them, at least two people read each.
        "generator": "model:gpt-4",
        "reviewed_by": ["model:gpt-4", "person:authors"],
        "human_reviews": 2,
    }
    check_columns(new, FEATURES["original"], "the converted row")
    return new, is_slice


def _locate(sentences, text):
    """The sentences as slices of `text`, in order, white space being free; None if they are not."""
    spans, position = [], 0
    for sentence in sentences:
        found = re.compile(r"\s+".join(map(re.escape, sentence.split()))).search(text, position)
        if not found:
            return None
        spans.append({"text": found[0], "start": found.start(), "end": found.end()})
        position = found.end()
    return spans


def _digest(value):
    """The content hash of records.pair_id, which this file cannot import."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
