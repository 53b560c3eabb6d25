"""Six jobs with a short and a long chain: what each needs, and its seconds; `text` has none."""

NEEDS = {
    "data": [],
    "short": ["data"],
    "long": ["data"],
    "fig": ["short", "long"],
    "text": ["short"],
    "report": ["fig", "text"],
}
SECONDS = {"data": 1, "short": 2, "long": 50, "fig": 3, "report": 4}
