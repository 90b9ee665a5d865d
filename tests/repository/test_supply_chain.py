"""What a release and the action install is pinned, by hash, and kept up to date."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from bench.costs import FILE, measured
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LOCKS = sorted((ROOT / ".github" / "requirements").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HASHED = "--require-hashes --only-binary :all: --requirement"


def jobs():
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text())["jobs"].items():
            yield pytest.param(job, id=f"{path.stem}/{name}")


def scripts(steps):
    return [line for step in steps for line in step.get("run", "").splitlines()]


def locked(path):
    """Return the requirements of a lock, each with its hashes."""
    text = path.read_text().replace("\\\n", " ")
    return {
        line.partition(" --hash")[0].strip(): line.count("--hash=sha256:")
        for line in text.splitlines()
        if line.strip()
    }


@pytest.mark.parametrize("job", [*jobs()])
def test_a_job_uses_pinned_actions_and_installs_by_hash_where_it_proves_who_it_is(job):
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"\./|[\w./-]+@[0-9a-f]{40}", each) for each in used)
    if job.get("permissions", {}).get("id-token") == "write":
        installs = [
            line for line in scripts(job["steps"]) if re.search(r"install|pipx|make ", line)
        ]
        assert all(HASHED in line for line in installs)


def test_what_is_published_was_built_by_tools_of_known_hashes():
    release = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    for name in ("build", "publish"):
        installs = [line for line in scripts(release[name]["steps"]) if "pip install" in line]
        assert installs
        assert all(HASHED in line for line in installs)
    assert set(release["publish"]["needs"]) == {"test", "build", "bill-of-materials"}
    installs = [e for e in scripts(release["bill-of-materials"]["steps"]) if "pip install" in e]
    assert all(HASHED in line or "--no-deps dist/" in line for line in installs)
    assert any("every-extra.txt" in line for line in installs)
    named = [step["with"].get("name") for step in release["announce"]["steps"] if "with" in step]
    assert named == ["dist", "bill-of-materials"]  # and nothing else that a job may have uploaded
    attested = [step.get("with", {}).get("sbom-path") for step in release["publish"]["steps"]]
    assert "fairgauge.cdx.json" in attested


def test_the_action_installs_by_hash():
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    installs = [line for line in scripts(steps) if "pip" in line]
    assert installs
    assert all(HASHED in line for line in installs)
    named = {step["env"]["REQUIREMENTS"] for step in steps if "REQUIREMENTS" in step.get("env", {})}
    assert {path.stem for path in LOCKS} >= set(re.findall(r"'(action[\w-]*)'", "".join(named)))


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_a_lock_names_one_version_and_its_hashes(path):
    for requirement, hashes in locked(path).items():
        assert [each.operator for each in Requirement(requirement).specifier] == ["=="]
        assert hashes, requirement


@pytest.mark.parametrize("name", ["action", "action-extras", "every-extra"])
def test_the_locks_of_the_action_fit_the_project(name):
    wanted = [*PROJECT["dependencies"]]
    optional = PROJECT["optional-dependencies"]
    extras = [*re.search(r"\[(.*)\]", optional["all"][0])[1].split(",")]
    held_extras = {"action": [], "action-extras": extras, "every-extra": optional.keys() - {"all"}}
    wanted += [each for extra in held_extras[name] for each in optional[extra]]
    held = [Requirement(each) for each in locked(ROOT / ".github/requirements" / f"{name}.txt")]
    for each in map(Requirement, wanted):
        found = [h for h in held if h.name.lower() == each.name.lower()]
        assert found, f"make requirements: {each} is not locked"
        versions = [next(iter(h.specifier)).version for h in found]
        assert all(each.specifier.contains(version) for version in versions), each


def test_a_bot_updates_everything_that_is_pinned():
    updates = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())["updates"]
    kept = {
        (each["package-ecosystem"], folder)
        for each in updates
        for folder in each.get("directories", [each.get("directory")])
    }
    assert kept == {("github-actions", "/"), ("pip", "/"), ("pip", "/.github/requirements")}


# ---- no cost that is the same on every machine grows unnoticed; `bench/costs.toml` states them
def grown(costs: dict[str, int], stated: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Return what costs too much, with its stated cost: of functions not listed at most the least.

    Functions may call one another more often as long as all of them together do not.
    """
    least = min(stated.values())
    limits = {name: stated.get(name, least) for name in costs}
    found = {n: (limits[n], cost) for n, cost in costs.items() if cost > 1.02 * limits[n]}
    return found if "calls" not in costs or "calls" in found else {}


def test_no_cost_grows():
    stated, now = tomllib.loads(FILE.read_text(encoding="utf-8")), measured()
    assert now.keys() == stated.keys()
    found = {name: more for name in now if (more := grown(now[name], stated[name]))}
    assert not found, "calls, modules or bytes, stated and now; if due: python -m bench.costs"


def test_the_function_that_grew_is_named():
    stated = {"calls": 1_000, "a:f": 600, "a:g": 300}
    assert grown({"calls": 1_010, "a:f": 500, "a:g": 510}, stated) == {}
    more = grown({"calls": 1_100, "a:f": 600, "a:new": 390, "a:g": 110}, stated)
    assert more == {"calls": (1_000, 1_100), "a:new": (300, 390)}
