"""croissant.json: a release described in the vocabulary of MLCommons Croissant 1.0, files with digests, columns typed.

Source: Akhtar et al. 2024, "Croissant: A Metadata Format for ML-Ready Datasets".
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from generation.releases import files

NAME = "croissant.json"
SPEC = "http://mlcommons.org/croissant/1.0"

_LICENCES = {
    "apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
    "cc0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc-by-sa-3.0": "https://creativecommons.org/licenses/by-sa/3.0/",
    "cc-by-sa-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "mit": "https://opensource.org/license/mit",
}
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def write(folder: Path, *, version: str, licence: str, date: str) -> None:
    """Write croissant.json beside the `data/` that it describes."""
    text = json.dumps(describe(folder, version=version, licence=licence, date=date), indent=1, ensure_ascii=False)
    (folder / NAME).write_text(text + "\n", encoding="utf-8", newline="\n")


def describe(folder: Path, *, version: str, licence: str, date: str) -> dict[str, Any]:
    """The metadata of the release in `folder`: a file object for each Parquet file, a record set for each of them.

    Columns that hold lists of records (sentences, coreferences, ...) are named in the record set's description alone:
    the vocabulary's reader takes no list of records within a record out of Parquet.
    """
    import craqan

    paths = sorted((folder / "data").glob("*/*.parquet"))
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": "CRaQAn",
        "description": "Question answering that needs coreference resolution across two or three sentences,"
        " with the sentences, the coreferences and the derivation of each answer.",
        "conformsTo": SPEC,
        "citeAs": craqan.CITATION.strip(),
        "license": _LICENCES.get(licence, licence),
        "url": f"https://huggingface.co/datasets/{craqan.REPO}",
        "version": version,
        "datePublished": date,
        "inLanguage": "en",
        "keywords": ["question answering", "coreference resolution", "chunking", "retrieval"],
        "rai:dataCollection": "Articles and pairs are made by the generators that the column `generator` names and"
        " judged by the readers that `reviewed_by` names; what was turned down is in the config `rejected`.",
        "rai:dataUseCases": "Evaluating chunkers, retrievers and readers where the answer needs sentences that refer to"
        " each other. Not for training systems that decide about people.",
        "distribution": [_file(path, folder) for path in paths],
        "recordSet": [_records(path, folder, craqan.FEATURES[path.parent.name]) for path in paths],
    }


def _id(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _file(path: Path, folder: Path) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": _id(path, folder),
        "name": _id(path, folder),
        "contentUrl": _id(path, folder),
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": files.sha256(path),
    }


def _records(path: Path, folder: Path, features: Mapping[str, Any]) -> dict[str, Any]:
    name = f"{path.parent.name}/{path.stem.split('-')[0]}"
    nested = [column for column, feature in features.items() if not hasattr(_item(feature)[0], "dtype")]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        **({"description": f"The file also holds {', '.join(nested)}: lists of records."} if nested else {}),
        "field": [
            _field(f"{name}/{column}", _id(path, folder), column, feature)
            for column, feature in features.items()
            if column not in nested
        ],
    }


def _field(name: str, file: str, column: str, feature: Any) -> dict[str, Any]:
    item, repeated = _item(feature)
    return {
        "@type": "cr:Field",
        "@id": name,
        "name": name,
        "dataType": _type(item.dtype),
        **({"repeated": True} if repeated else {}),
        "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
    }


def _item(feature: Any) -> tuple[Any, bool]:
    """What a column holds, and whether it holds a list of it."""
    if isinstance(feature, list):
        return feature[0], True
    return (feature.feature, True) if hasattr(feature, "feature") else (feature, False)


def _type(dtype: str) -> str:
    for start, name in (("int", "sc:Integer"), ("float", "sc:Float"), ("bool", "sc:Boolean")):
        if dtype.startswith(start):
            return name
    return "sc:Text"
