"""dbt: ``manifest.json`` (what depends on what) with ``run_results.json`` beside it (how long it took).

Definition: https://schemas.getdbt.com (manifest v1 to v12, run-results v1 to v6);
https://docs.getdbt.com/reference/artifacts/manifest-json
Models, seeds, snapshots, tests and functions are tasks. Only a few keys of a manifest matter here, so the
rest (SQL, documentation, columns) is forgotten while parsing: a manifest of tens of MB needs little more
memory than its text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import FormatError, choices, shown
from .draft import Draft, label, seconds
from .loaded import Loaded, Run, moment
from .safe import as_dict, as_list, parse_json
from .source import Source, read_file

NAME = "dbt"
TITLE = "dbt manifest.json with run_results.json"
DEFINITION = "https://docs.getdbt.com/reference/artifacts/manifest-json"

TASK_TYPES = ("model", "seed", "snapshot", "test", "function")
_LEFT_OUT = {
    "source": "source|sources was|were left out (dbt reads them, and runs nothing; sources=True shows them)",
    "unit_test": "unit test|tests was|were left out, because no result is recorded for it|them",
    "disabled node": "disabled node|nodes was|were left out",
    "operation": "hook|hooks was|were left out",
    "analysis": "analysis|analyses was|were left out (dbt only compiles them)",
    "exposure": "exposure|exposures was|were left out (dbt runs nothing for them)",
    "metric": "metric|metrics was|were left out (dbt runs nothing for them)",
    "semantic_model": "semantic model|models was|were left out (dbt runs nothing for them)",
    "saved_query": "saved query|queries was|were left out (dbt runs nothing for them)",
}
# Heavy keys that say nothing about order or time.
_HEAVY = (
    "raw_code",
    "raw_sql",
    "compiled_code",
    "compiled_sql",
    "macro_sql",
    "columns",
    "description",
    "docs",
    "meta",
    "extra_ctes",
    "block_contents",
    "arguments",
    "patch_path",
    "child_map",
    "doc_blocks",
    "unrendered_config",
    "compiled",
    "checksum",
    "refs",
    "contract",
    "adapter_response",
    "message",
)


def matches_text(text: str) -> bool:
    """Told by the schema address in every artifact, searched as text: huge files are not parsed twice."""
    return "schemas.getdbt.com/dbt/" in text or (
        '"macros"' in text and '"nodes"' in text and '"parent_map"' in text
    )


def read(source: Source, *, results: Any = None, sources: bool = False) -> Loaded:
    """The Dag of a dbt project, with recorded durations in seconds if run results are found.

    results: a path to run results elsewhere. sources: True makes dbt sources tasks too (they take no time).
    """
    data = as_dict(parse_json(source, drop=_HEAVY))
    if "results" in data and "nodes" not in data:
        manifest = _beside(source, "manifest")
        if manifest is None:
            raise source.bad(
                "a dbt manifest",
                "run results, which hold no dependencies",
                "Put manifest.json beside it, or load the manifest.",
            )
        return read(manifest, results=source.path, sources=sources)
    if not isinstance(data.get("nodes"), (dict, list)):
        raise source.bad(
            "a dbt manifest with 'nodes'",
            f"the keys {choices(sorted(map(str, data)))}",
            "Load target/manifest.json of the project.",
        )
    draft = Draft(NAME, source, label(as_dict(data.get("metadata")).get("project_name")) or None)
    times, elapsed = _results(draft, source, results)
    nodes = _nodes(draft, data, sources, times)
    for node_id, node in nodes.items():
        _add(draft, node_id, node, _upstream(draft, node_id, data, nodes), times.get(node_id))
    draft.note_all(
        (node_id for node_id in times if node_id not in nodes),
        "recorded result|results was|were ignored, because the manifest has no such task",
    )
    if any(node["resource_type"] == "test" for node in nodes.values()):
        draft.note(
            "Tests are tasks after what they test. `dbt build` also holds back what comes after a tested"
            " model until its tests passed; the manifest does not say so, and neither does this Dag."
        )
    run = _run(nodes, times)
    if times and run is None:
        draft.note("The run results have no start times: when each task ran is unknown (run is None).")
    return draft.finish(unit="s" if times else None, run=run, recorded_makespan=elapsed)


def _nodes(
    draft: Draft, data: dict[str, Any], sources: bool, times: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """What becomes a task, by unique id; everything else is counted in the report."""
    found: dict[str, dict[str, Any]] = {}
    left: dict[str, list[str]] = {}
    for key in ("sources", "nodes", "functions", "unit_tests"):
        for node_id, node in _items(data.get(key)):
            kind = label(node.get("resource_type")) or node_id.partition(".")[0]
            if as_dict(node.get("config")).get("enabled") is False:
                left.setdefault("disabled node", []).append(node_id)
            elif (
                kind in TASK_TYPES
                or (kind == "source" and sources)
                or (kind == "unit_test" and node_id in times)
            ):
                found[node_id] = {**node, "resource_type": kind}
            else:
                left.setdefault(kind, []).append(node_id)
    for key, kind in (
        ("exposures", "exposure"),
        ("metrics", "metric"),
        ("semantic_models", "semantic_model"),
        ("saved_queries", "saved_query"),
    ):
        left.setdefault(kind, []).extend(node_id for node_id, _ in _items(data.get(key)))
    left.setdefault("disabled node", []).extend(map(str, as_dict(data.get("disabled"))))
    for kind, names in left.items():
        draft.note_all(names, _LEFT_OUT.get(kind, "other node|nodes was|were left out"))
    return found


def _items(part: Any) -> list[tuple[str, dict[str, Any]]]:
    """(unique id, node) pairs of a manifest section, which is a dictionary, or a list in some variations."""
    pairs = part.items() if isinstance(part, dict) else [(None, node) for node in as_list(part)]
    return [
        (label(key) or label(as_dict(node).get("unique_id")), as_dict(node))
        for key, node in pairs
        if label(key) or label(as_dict(node).get("unique_id"))
    ]


def _depends(node_id: str, data: dict[str, Any], node: dict[str, Any]) -> list[str]:
    depends = node.get("depends_on")
    if isinstance(depends, dict) and isinstance(depends.get("nodes"), list):
        depends = depends["nodes"]
    elif not isinstance(depends, list):
        depends = as_dict(data.get("parent_map")).get(node_id)
    return [label(up) for up in as_list(depends)]


def _upstream(draft: Draft, node_id: str, data: dict[str, Any], nodes: dict[str, Any]) -> list[str]:
    """Its upstream tasks; what is left out (a metric, say) is looked through to what stands before it."""
    made: dict[str, None] = {}
    seen: set[str] = set()
    stack = _depends(node_id, data, nodes[node_id])[::-1]
    while stack:
        up = stack.pop()
        if up in nodes:
            made.setdefault(up)
        elif up not in seen:
            seen.add(up)
            draft.spend()
            hidden = [as_dict(data.get(key)).get(up) for key in ("nodes", "metrics", "semantic_models")]
            stack += _depends(up, data, next((node for node in hidden if isinstance(node, dict)), {}))[::-1]
    return list(made)


def _add(
    draft: Draft, node_id: str, node: dict[str, Any], upstream: list[str], result: dict[str, Any] | None
) -> None:
    kind = as_dict(node.get("config")).get("materialized")
    if kind == "ephemeral" and node["resource_type"] == "model":
        draft.note("Ephemeral models are part of the models that use them: they count 0 and take no slot.")
        draft.task(node_id, upstream, 0, empty=True)
    elif node["resource_type"] == "source":
        draft.task(node_id, upstream, 0, empty=True)
    else:
        lasted = seconds(as_dict(result).get("execution_time"))
        if as_dict(result).get("status") == "skipped":
            draft.note("Tasks that were skipped in that run have no duration.")
            lasted = None
        draft.task(node_id, upstream, lasted)


def _results(draft: Draft, source: Source, given: Any) -> tuple[dict[str, dict[str, Any]], float | None]:
    """Recorded results by unique id, and how long the whole run took."""
    found = read_file(Path(given)) if given is not None else _beside(source, "run_results")
    if found is None:
        draft.note("No run_results.json beside it: durations are unknown.")
        return {}, None
    data = as_dict(parse_json(found, drop=_HEAVY))
    if not isinstance(data.get("results"), list):
        raise found.bad(
            "dbt run results with 'results'",
            f"the keys {choices(sorted(map(str, data)))}",
            "Load target/run_results.json of the project.",
        )
    draft.note(f"Durations are the execution times in {found.name}.")
    made: dict[str, dict[str, Any]] = {}
    for result in map(as_dict, data["results"]):
        node_id = label(result.get("unique_id")) or label(as_dict(result.get("node")).get("unique_id"))
        if node_id:
            made[node_id] = result
    return made, seconds(data.get("elapsed_time"))


def _beside(source: Source, what: str) -> Source | None:
    """The other artifact in the same directory: by its name, else the only file whose name has that word."""
    if source.path is None:
        return None
    folder = source.path.parent
    exact = folder / f"{what}.json"
    others = sorted(folder.glob(f"*{what}*.json"))
    if exact.is_file():
        return read_file(exact)
    if len(others) > 1:
        advice = (
            "Load the manifest you mean." if what == "manifest" else "Name one: load(path, results='...')."
        )
        raise source.bad(f"{what}.json beside it", choices(p.name for p in others), advice)
    return read_file(others[0]) if others else None


def _run(nodes: dict[str, dict[str, Any]], times: dict[str, dict[str, Any]]) -> Run | None:
    rows = []
    for node_id, result in times.items():
        spans = [as_dict(span) for span in as_list(result.get("timing"))]
        starts = [m for m in (moment(span.get("started_at")) for span in spans) if m]
        ends = [m for m in (moment(span.get("completed_at")) for span in spans) if m]
        if node_id in nodes:
            rows.append(
                {
                    "task": node_id,
                    "start": min(starts, default=None),
                    "end": max(ends, default=None),
                    "state": shown(result.get("status")),
                }
            )
    return Run.from_times(rows)


def manifest_in(folder: Path) -> Path:
    """The manifest of a dbt project or target directory: by its name, else the only one whose name has the word.

    Raises FormatError if there is none, or if several could be meant.
    """
    places = folder, folder / "target"
    for place in places:
        if (place / "manifest.json").is_file():
            return place / "manifest.json"
    for place in places:
        named = [path for path in sorted(place.glob("*manifest*.json")) if "semantic" not in path.name]
        if len(named) == 1:
            return named[0]
        if named:
            raise FormatError(
                f"load: expected one manifest in folder '{shown(folder.name or folder)}', found "
                f"{choices(path.name for path in named)}. Load the one you mean."
            )
    raise FormatError(
        f"load: no manifest.json in folder '{shown(folder.name or folder)}'; found {_content(folder)}. "
        "A folder is read as a dbt project; give the file itself for any other format."
    )


def _content(folder: Path) -> str:
    try:
        return choices(sorted(path.name for path in folder.iterdir())) or "nothing"
    except OSError as problem:
        return f"that it cannot be read ({shown(problem.strerror)})"
