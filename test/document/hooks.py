"""What schemathesis cannot know of the API: what its formats mean, which rules stand only in descriptions, and where the
server is more lenient than the document (see the description of the document)."""

import json
import os

import jsonschema_rs
import schemathesis
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode

FORMATS = {
    "re2": [".*", "^/a/[0-9]+", "/(en|es)"],
    "cel": ["true", "1 < 2"],
    "pem": ["-----BEGIN CERTIFICATE-----", "no PEM"],
    "status-range": ["200", "200-299", "204-404"],
    "duration-string": ["0", "5s", "1h30m", ".5s", "{{secret:env:TIME}}"],
    "host": ["a.example", "10.0.0.1", "::1", "[::1]"],
    "host-pattern": ["*", "*.a.example", "a.example"],
    "cidr": ["10.0.0.0/8", "::1", "fd00::/8"],
    "byte": ["AAAA", ""],
}
for name, samples in FORMATS.items():
    schemathesis.openapi.format(name, st.sampled_from(samples))

VERSIONS = ["TLSv1_0", "TLSv1_1", "TLSv1_2", "TLSv1_3"]

MEMBERS = os.environ["SLUICE_MEMBERS"].split(",")

with open(os.environ["SLUICE_DOCUMENT"], encoding="utf-8") as file:
    DOCUMENT = json.load(file)


@schemathesis.hook
def map_body(ctx, body):
    """Keeps the rules that no schema can say, where the types are right."""
    return kept(body)


def kept(value):
    if isinstance(value, list):
        return [kept(each) for each in value]
    if not isinstance(value, dict):
        return value
    value = {name: kept(each) for name, each in value.items() if name != "__proto__"}
    if "operations" in value:
        # What is staged by then may be no configuration that could be served.
        value.pop("snapshot", None)
    entries = value.get("destinations")
    if isinstance(entries, list) and len(entries) > 1 and all(is_weighted(each) for each in entries):
        value["destinations"] = [{**each, "weight": 0 if at else 100} for at, each in enumerate(entries)]
    if is_uint(value.get("tableSize")) and 3 <= value["tableSize"] <= 5000011:
        value["tableSize"] = 65537
    if is_uint(value.get("min"), 1) and value["min"] <= 8388608 and is_uint(value.get("max", 8388608), 1):
        value["max"] = max(value["min"], value.get("max", 8388608))
    elif is_uint(value.get("max"), 1) and "min" not in value:
        value["max"] = max(1024, value["max"])
    for name in ("durationBuckets", "sizeBuckets"):
        bounds = value.get(name)
        if isinstance(bounds, list) and all(isinstance(each, (int, float)) for each in bounds):
            value[name] = [at + 1 for at in range(len(bounds))]
    for name, least in (("deadman", "5s"), ("checkInterval", "100ms")):
        if isinstance(value.get(name), str):
            value[name] = least
    parts, whole = value.get("numerator"), value.get("denominator", 100)
    if is_uint(parts) and is_uint(whole, 1):
        value["numerator"] = min(parts, whole)
    # Directories of logs are settings of the node.
    log = value.get("accessLog")
    if isinstance(log, dict) and isinstance(log.get("path"), str) and log["path"].startswith("/"):
        value["accessLog"] = {**log, "path": "stdout"}
    # A host belongs to one section, and a password is known by its hash.
    if isinstance(value.get("sections"), list):
        value["sections"] = value["sections"][:1]
    if isinstance(value.get("passwordHash"), str) and value["passwordHash"]:
        value["passwordHash"] = "$2b$10$" + "." * 53
    steps = value.get("steps")
    if isinstance(steps, list):
        value["steps"] = [
            {**each, "share": at + 1} if isinstance(each, dict) and is_share(each.get("share")) else each
            for at, each in enumerate(steps)
        ]
    if value.get("maxVersion") in VERSIONS and value.get("minVersion", "TLSv1_2") in VERSIONS:
        if VERSIONS.index(value["maxVersion"]) < VERSIONS.index(value.get("minVersion", "TLSv1_2")):
            del value["maxVersion"]
    if value.get("regex") is True and isinstance(value.get("value"), str) and value["value"]:
        value["value"] = "^a"
    return value


def is_weighted(value):
    return isinstance(value, dict) and "destinationId" in value and is_uint(value.get("weight", 0))


def is_share(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0.01 <= value <= 100


def is_uint(value, least=0):
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= 4294967295


@schemathesis.hook
def filter_case(ctx, case):
    """Leaves out what the document does not allow and the server takes all the same, as the document says it does. And
    bodies that are made of boundary values and called right, although the document's rules across fields refuse them."""
    if case.meta is None:
        return True
    if case.meta.generation.mode == GenerationMode.POSITIVE:
        schema = schema_of(case) if isinstance(case.body, dict) else None
        return schema is None or schema.is_valid(kept(case.body))
    # An empty parameter is an absent one.
    if isinstance(case.query, dict) and "" in case.query.values():
        return False
    body = case.body
    # Where a body may be absent, null is an absent one.
    if body is None:
        return operation_of(case).get("requestBody", {}).get("required", False)
    if not isinstance(body, dict):
        return True
    schema = schema_of(case)
    return schema is None or not schema.is_valid(strict(body, case.method))


@schemathesis.hook
def before_add_examples(context, examples):
    """Examples are put together field by field: those that the rules across fields forbid are left out."""
    examples[:] = [case for case in examples if filter_case(context, case)]


def strict(value, method=""):
    if isinstance(value, list):
        return [strict(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: strict(each)
        for name, each in value.items()
        if each is not None and each != "" and not (method == "PUT" and name == "id")
    }


@schemathesis.hook
def before_call(ctx, case, kwargs):
    # A member that is removed stops, the asked node too, and a cluster of none answers no more.
    if operation_of(case).get("operationId") == "removeMember" and case.path_parameters.get("nodeId") in MEMBERS:
        case.path_parameters["nodeId"] = "none"
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    # Bodies that are made of boundary values come here without having been mapped.
    body = kept(case.body)
    if body != case.body:
        case.body = body
    # Between generation and sending an entity tag loses its quotes here, as if it were JSON.
    tag = (case.headers or {}).get("If-Match")
    if tag is not None and tag != "*" and '"' not in tag:
        case.headers["If-Match"] = "*"


def operation_of(case):
    return DOCUMENT["paths"].get(case.path, {}).get(case.method.lower(), {})


VALIDATORS = {}


def schema_of(case):
    schema = operation_of(case).get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        return None
    key = f"{case.method} {case.path}"
    if key not in VALIDATORS:
        VALIDATORS[key] = jsonschema_rs.Draft4Validator({**schema, "components": DOCUMENT["components"]})
    return VALIDATORS[key]
