"""Which values are credentials; and that none is shown."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest

from kcheck.kube import positional_passwords
from kcheck.testing import check_text
from tests.cli.conftest import Program, program
from tests.practice.reported import reported

__all__ = ["program"]

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


KEY = "MIIEowIBAAKCAQEAx7Jx2mQ9vB4tR8wZ1nY6k3Lp5sD0fGhJqWeRtYuIoPaSdFgH"


def variable(name: str, value: str) -> str:
    return f"""\
apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers:
  - name: c
    image: b:1
    env:
    - name: {name}
      value: {value}
"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "hunter2"), ("PGPASSWORD", "hunter2"), ("apiKey", "a9f3bc"), ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMIK7MDENG"),
        ("GITHUB", TOKEN), ("client-secret", "abc-def"), ("dbPassword", "postgres"), ("URL", f"https://x:{TOKEN}@github.com/a"),
    ],
)  # fmt: skip
def test_a_credential(name: str, value: str) -> None:
    assert reported(variable(name, value), "credential-in-env") == [(10, value)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "''"), ("DB_PASSWORD", "$(OTHER)"), ("DB_PASSWORD", "'{{ .Values.password }}'"), ("DB_PASSWORD", "'<password>'"),
        ("DB_PASSWORD", "changeme"), ("DB_PASSWORD", "'true'"), ("DB_PASSWORD", "MY_PASSWORD"), ("DB_PASSWORD_FILE", "/run/secrets/db"),
        ("DB_PASSWORD", "/run/secrets/db"), ("TOKEN_TTL", "24h"), ("SECRET_NAME", "db"), ("ENABLE_SECRET_INFORMER_FILTERING", "sure"),
        ("TOKENIZER", "fast-one"), ("USER", "admin"), ("TOKEN_URL", "https://example.com/token"), ("SECRETARY", "somebody"),
    ],
)  # fmt: skip
def test_no_credential(name: str, value: str) -> None:
    assert reported(variable(name, value), "credential-in-env") == []


def test_no_message_shows_it() -> None:
    for finding in check_text(variable("DB_PASSWORD", "hunter2"), ["credential-in-env"]):
        assert "hunter2" not in finding.concise


def test_keys_in_config_maps() -> None:
    text = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  password: hunter2
  app.conf: |
    user = shop
    password = hunter3
    password-file = /run/secrets/db
    # password = hunter4
  key.pem: |
    -----BEGIN RSA PRIVATE KEY-----
    %s
"""
    text %= KEY
    assert reported(text, "credential-in-config-map") == [(5, "password"), (8, "hunter3"), (12, "-----BEGIN RSA PRIVATE KEY-----")]
    assert reported(text, "credential-in-config-map", allow=["password", "key.pem"]) == []


CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (f"'{TOKEN}'", TOKEN),
        (f"see {TOKEN} there", TOKEN),
        ("postgres://shop:hunter2@db:5432/shop", "hunter2"),
        ("amqp://shop:hunter2@queue", "hunter2"),
        ("Server=db;User Id=shop;Password=hunter2;", "hunter2"),
        ("jdbc:mysql://db/shop?user=shop&password=hunter2", "hunter2"),
        ("https://hooks.slack.com/services/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", None),
        (b64encode(TOKEN.encode()).decode(), b64encode(TOKEN.encode()).decode()),
        (b64encode(b"postgres://shop:hunter2@db:5432/shop").decode(), b64encode(b"postgres://shop:hunter2@db:5432/shop").decode()),
        (json.dumps(json.dumps({"auths": {"a.b": {"auth": b64encode(b"shop:hunter2").decode()}}})), None),
    ],
)
def test_texts_that_say_so_themselves(value: str, shown: str | None) -> None:
    found = reported(f"{CONFIG_MAP}data:\n  some: {value}\n", "credential-in-config-map")
    assert [text for _, text in found] == [shown] if shown else len(found) == 1


@pytest.mark.parametrize(
    "value",
    [
        "postgres://user:password@db", "postgres://$(USER):$(PASSWORD)@db", "https://example.com/a:b@c", "mailto://me@example.com",
        "AKIAIOSFODNN7EXAMPLE", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "'-----BEGIN PUBLIC KEY-----'", "Password=;Server=db",
        "Server=db;Password=${DB_PASSWORD};", "aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91", "sha256:" + "0f" * 32, "/etc/ssl/private/tls.key",
        "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    ],
)  # fmt: skip
def test_texts_that_do_not(value: str) -> None:
    assert reported(f"{CONFIG_MAP}data:\n  some: {value}\n", "credential-in-config-map") == []


def test_binary_data_is_decoded() -> None:
    text = f"{CONFIG_MAP}binaryData:\n  a.txt: {b64encode(TOKEN.encode()).decode()}\n  b.txt: aGVsbG8gd29ybGQ=\n"
    assert reported(text, "credential-in-config-map") == [(5, "a.txt")]


@pytest.mark.parametrize(
    ("name", "value", "is_one"),
    [
        ("ENCRYPTION_KEY", "k7Jx2mQ9vB4tR8wZ1nY6", True), ("APP_KEY", "8f14e45fceea167a5a36dedd4bea2543", True),
        ("APP_KEY", "some-thing", False), ("PARTITION_KEY", "8f14e45fceea167a5a36dedd4bea2543", False),
        ("PUBLIC_KEY", "k7Jx2mQ9vB4tR8wZ1nY6", False), ("COOKIE_SALT", "k7Jx2mQ9vB4tR8wZ1nY6", True),
        ("ENCRYPTION_KEY", "7c9e6679-7425-40de-944b-e07fc1f90ae7", False), ("COMMIT", "8f14e45fceea167a5a36dedd4bea2543", False),
    ],
)  # fmt: skip
def test_weak_names_need_something_random(name: str, value: str, is_one: bool) -> None:
    assert bool(reported(variable(name, value), "credential-in-env")) == is_one


def command(*args: str) -> str:
    head = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: c\n    image: b:1\n    args:\n"
    return head + "".join(f"    - {json.dumps(each)}\n" for each in args)


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (("--password=hunter2",), ["hunter2"]), (("--password", "hunter2"), ['"hunter2"']), (("--db-password", "$(PASSWORD)"), []),
        (("--requirepass", "hunter2"), ['"hunter2"']), (("--token-ttl=3600s",), []), (("--password-file=/run/p",), []),
        (("--token=k7Jx2mQ9vB4tR8wZ1nY6",), ["k7Jx2mQ9vB4tR8wZ1nY6"]), (("--secret=my-secret",), []), (("--password", "--other"), []),
        (("mysqladmin ping -phunter2",), ["hunter2"]), (("PGPASSWORD=hunter2 psql -h db",), ["hunter2"]), (("psql $PASSWORD",), []),
        (("curl https://shop:hunter2@db/",), ["hunter2"]), (("--password=$(cat /run/p)",), []), (("PASSWORD=$(pwgen 20)",), []),
        (("a; export A_TOKEN=k7Jx2mQ9vB4tR8wZ1nY6",), ["k7Jx2mQ9vB4tR8wZ1nY6"]),
        (("-c", f"git clone https://{TOKEN}@github.com/a/b"), [TOKEN]), (("the password is good",), []),
        (("--no-password", "x12"), []),
    ],
)  # fmt: skip
def test_arguments(args: tuple[str, ...], shown: list[str]) -> None:
    assert [text for _, text in reported(command(*args), "credential-in-args")] == shown


@pytest.mark.parametrize(
    "line",
    [
        "mysql -uroot -phunter2 -e x", "mariadb-admin -phunter2 ping", "curl -u admin:hunter2 http://x",
        "curl -sSfu 'admin:hunter2' http://x",
        "curl -k \\\n  --user admin:hunter2 \\\n  x", "curl --user=$U:hunter2 x", "mc alias set minio http://minio:9000 minio hunter2",
        "mc --insecure alias set minio 'http://x' \"$KEY\" hunter2", "mc config host add m http://x minio hunter2",
        "sshpass -p hunter2 ssh x",
        "redis-cli -h x -a hunter2 ping", "mongosh -u a -p hunter2", "docker login -u a -p hunter2 reg", "ldapsearch -x -D cn=a -w hunter2",
        "openssl enc -pass pass:hunter2", "sqlcmd -S x -U sa -P hunter2", "keytool -list -storepass hunter2",
        "rabbitmqctl add_user bob hunter2",
    ],
)  # fmt: skip
def test_a_password_by_its_position(line: str) -> None:
    low = line.lower()
    assert [line[start:end] for _, start, end in positional_passwords.find(line, low)] == ["hunter2"]
    assert positional_passwords.may_occur(low)


@pytest.mark.parametrize(
    "line",
    [
        "mysql -uroot -p$PASS", "mysql -uroot -p\"${PASS}\" -e x", "mysql -p", "mysql -h db -P 3306", "curl -u $A:$B x",
        "curl -u 'a:b$X' y",
        "curl -u \"elastic:$(cat /x)\" x", "curl -u admin http://x:8080", "curl -X POST -H 'a: b:c' x", "curl -u user:<password> x",
        "mc alias set minio http://minio:9000 $A $B", "redis-cli -a \"$REDIS_PASSWORD\" ping", "sshpass -e ssh -p 2222 host",
        "mkdir -p data; mysql", "mysql --protocol tcp -e 'x'; mkdir -p /data", "docker login -u a --password-stdin",
        "mysql -p{{ .password }} db",
    ],
)  # fmt: skip
def test_no_password_by_its_position(line: str) -> None:
    assert list(positional_passwords.find(line, line.lower())) == []


def test_a_password_in_a_list_of_words() -> None:
    words = ("mysqladmin", "ping", "-uroot", "-phunter2")
    assert reported(command(*words), "credential-in-args") == [(12, "hunter2")]
    assert reported(command("redis-cli", "-a", "hunter2"), "credential-in-args") == [(11, "hunter2")]
    assert reported(command("mkdir", "-phunter2"), "credential-in-args") == []


def test_a_script_of_a_config_map() -> None:
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n"
    line = "curl -u shop:hunter2 http://web"
    assert reported(f"{head}  a.sh: |\n    {line}\n", "credential-in-config-map") == [(6, "hunter2")]
    assert reported(f"{head}  run: |\n    #!/bin/sh\n    {line}\n", "credential-in-config-map") == [(7, "hunter2")]
    assert reported(f"{head}  README.md: |\n    {line}\n", "credential-in-config-map") == []


def test_a_probe_with_a_password() -> None:
    text = (
        command("run")
        + """\
    livenessProbe:
      httpGet:
        port: 80
        httpHeaders:
        - name: Authorization
          value: Basic c2hvcDpodW50ZXIy
"""
    )
    assert reported(text, "credential-in-args") == [(15, "Basic c2hvcDpodW50ZXIy")]


def test_annotations() -> None:
    text = f"""\
apiVersion: v1
kind: Service
metadata:
  name: a
  annotations:
    example.com/note: {TOKEN}
    example.com/api-token: k7Jx2mQ9vB4tR8wZ1nY6
    nginx.ingress.kubernetes.io/auth-secret: basic-auth
    example.com/secret: shop/some-secret-of-mine
"""
    assert reported(text, "credential-in-annotation") == [(6, TOKEN), (7, "example.com/api-token")]


def test_custom_resources() -> None:
    text = """\
apiVersion: example.com/v1
kind: Shop
metadata: {name: a}
spec:
  password: hunter2
  secret: shop-secret
  token: k7Jx2mQ9vB4tR8wZ1nY6
  passwordRef: {name: shop, key: password}
  pass: tea
  parameters:
  - name: auth.password
    value: hunter3
  values: |
    adminPassword: hunter4
    url: https://shop:hunter5@db/
"""
    found = [(5, "hunter2"), (7, "k7Jx2mQ9vB4tR8wZ1nY6"), (12, "hunter3"), (14, "hunter4"), (15, "hunter5")]
    assert sorted(reported(text, "credential-in-custom-resource")) == found
    assert reported(text.replace("Shop", "SealedSecret"), "credential-in-custom-resource") == []


def test_literals_of_a_kustomization() -> None:
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    text = f"{head}secretGenerator:\n- name: a\n  literals:\n  - user=a\n  - password=hunter2\n"
    assert reported(text, "credential-in-custom-resource") == [(7, "password=hunter2")]


@pytest.mark.parametrize("form", ["text", "concise", "json", "sarif", "github"])
def test_no_report_shows_one(form: str, tmp_path: Path, program: Program) -> None:
    """Neither the rules of this module nor those that look at the same lines."""
    head = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"
    secret = head + "stringData:\n  x/y: hunter2\n  x/y: hunter2\n  n: 7700099\ndata:\n  a: hunter2!\n"
    config = f"{CONFIG_MAP}data:\n  db-password: hunter2\n  a.conf: |\n    password = hunter2 # {TOKEN}\n  b/: {TOKEN} {TOKEN}\n"
    texts = [variable("DB_PASSWORD", "hunter2"), command("--password=hunter2", "mysql -phunter2"), secret, config]
    (tmp_path / "a.yaml").write_text("---\n".join(texts))
    done = program("check", "--isolated", "--format", form, ".")
    assert done.code == 1
    for rule in ("credential-in-env", "credential-in-args", "credential-in-config-map", "duplicate-key"):
        assert rule in done.out
    assert "hunter" not in done.out
    assert "7700099" not in done.out
    assert TOKEN not in done.out


def test_each_credential_of_a_script() -> None:
    script = f"mysql -phunter2 && PGPASSWORD=hunter3 psql && mysql -phunter4 && git clone https://{TOKEN}@github.com/a/b"
    assert [shown for _, shown in reported(command("-c", script), "credential-in-args")] == ["hunter2", "hunter3", TOKEN]
    assert [shown for _, shown in reported(command(f"--password={TOKEN}"), "credential-in-args")] == [TOKEN]


def test_the_name_of_an_option_is_not_its_value() -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'a:1', args: [--password, password]}]}\n"
    (finding,) = check_text(pod, ["credential-in-args"])
    assert '"--password"' in finding.message
    assert "********" in finding.place.line
