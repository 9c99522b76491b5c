"""Where the parts of built objects come from."""

from tests.kustomize.building import CONFIG_MAP, DEPLOYMENT, Repository, only

BASE = {"base/kustomization.yaml": "resources: [web.yaml]\n", "base/web.yaml": DEPLOYMENT}


def test_unchanged_values_are_located_in_their_file() -> None:
    repository = Repository({**BASE, "kustomization.yaml": "resources: [base]\n"})
    web = only(repository.build())
    assert repository.place(web.node["spec"]["replicas"]) == ("base/web.yaml", 6, "1")
    assert repository.place(web.node)[:2] == repository.place(web.origin)[:2] == ("base/web.yaml", 1)
    assert web.changes == ()


def test_second_document_of_a_file() -> None:
    files = {"kustomization.yaml": "resources: [two.yaml]\n", "two.yaml": f"{CONFIG_MAP.format('a')}---\n{CONFIG_MAP.format('b')}"}
    repository = Repository(files)
    places = [repository.place(each.node["metadata"]["name"]) for each in repository.build().objects]
    assert places == [("two.yaml", 4, "a"), ("two.yaml", 9, "b")]


def test_settings_give_their_own_place() -> None:
    kustomization = (
        "resources: [base]\nnamespace: live\nnamePrefix: my-\nlabels:\n- pairs: {team: blue}\nimages:\n- name: nginx\n  newTag: '2.0'\n"
        "replicas:\n- {name: web, count: 3}\n"
    )
    repository = Repository({**BASE, "kustomization.yaml": kustomization})
    web = only(repository.build())
    metadata, spec = web.node["metadata"], web.node["spec"]
    assert repository.place(metadata["namespace"]) == ("kustomization.yaml", 2, "live")
    assert repository.place(metadata["labels"]["team"]) == ("kustomization.yaml", 5, "blue")
    assert repository.place(spec["replicas"]) == ("kustomization.yaml", 10, "3")
    image = spec.at("template", "spec", "containers", 0, "image")
    assert (image.text, repository.place(image)) == ("nginx:2.0", ("kustomization.yaml", 8, "'2.0'"))
    # A name stays where it is written, whatever is put before it.
    assert (metadata["name"].text, repository.place(metadata["name"])) == ("my-web", ("base/web.yaml", 4, "web"))


def test_changes_say_which_setting_did_what() -> None:
    repository = Repository({**BASE, "kustomization.yaml": "resources: [base]\nnamespace: live\nnamePrefix: my-\n"})
    web = only(repository.build())
    assert [(change.field, repository.place(change.where)[1]) for change in web.changes] == [("namespace", 2), ("namePrefix", 3)]
    assert web.changes[1].touched == [web.node["metadata"]["name"]]
    assert web.previous == (("web", "default", "Deployment"), ("web", "live", "Deployment"))


def test_patch_file() -> None:
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 5\n  paused: true\n"
    repository = Repository({**BASE, "kustomization.yaml": "resources: [base]\npatches:\n- path: p.yaml\n", "p.yaml": patch})
    web = only(repository.build())
    assert repository.place(web.node["spec"]["replicas"]) == ("p.yaml", 5, "5")
    assert repository.place(web.node["spec"]["paused"]) == ("p.yaml", 6, "true")
    assert repository.place(web.node["metadata"]["name"]) == ("base/web.yaml", 4, "web")
    assert [(change.field, repository.place(change.where)[:2]) for change in web.changes] == [("patches", ("kustomization.yaml", 3))]


def test_inline_patches_are_located_in_the_kustomization() -> None:
    kustomization = """\
resources: [base]
patches:
- patch: |-
    # ünï
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:

      replicas: 5
- target: {kind: Deployment}
  patch: |
    - op: add
      path: /spec/paused
      value: true
"""
    repository = Repository({**BASE, "kustomization.yaml": kustomization})
    spec = only(repository.build()).node["spec"]
    assert repository.place(spec["replicas"]) == ("kustomization.yaml", 10, "5")
    assert repository.place(spec["paused"]) == ("kustomization.yaml", 15, "true")


def test_inline_patch_in_quotes_is_shown_by_its_beginning() -> None:
    kustomization = 'resources: [base]\npatches:\n- target: {kind: Deployment}\n  patch: \'[{"op": "remove", "path": "/nowhere"}]\'\n'
    repository = Repository({**BASE, "kustomization.yaml": kustomization})
    (problem,) = repository.problems(repository.build())
    assert problem == "kustomization.yaml:4:10: error: path /nowhere of a JSON patch does not exist"


def test_generated_objects() -> None:
    kustomization = """\
configMapGenerator:
- name: settings
  literals: [level=info]
  files: [app.ini]
  envs: [app.env]
"""
    repository = Repository({"kustomization.yaml": kustomization, "app.ini": "[app]\n", "app.env": "# no\n A=b\n"})
    found = only(repository.build())
    assert found.generated
    data = found.node["data"]
    assert repository.place(found.node["metadata"]["name"]) == ("kustomization.yaml", 2, "settings")
    assert repository.place(data["level"]) == ("kustomization.yaml", 3, "info")
    assert repository.place(data["app.ini"]) == ("app.ini", 1, "[app]\n")
    assert repository.place(data["A"]) == ("app.env", 2, "b")


def test_whole_has_the_text_of_each_node() -> None:
    repository = Repository({**BASE, "kustomization.yaml": "resources: [base]\nnamespace: live\n"})
    web = only(repository.build())
    namespace, replicas = web.node["metadata"]["namespace"], web.node["spec"]["replicas"]
    whole = repository.library.whole.text
    assert (whole[namespace.start : namespace.end], whole[replicas.start : replicas.end]) == ("live", "1")
