"""Places in which people put secret values, which must not appear in any output.

`MARK` is replaced by the value, `#!` by a comment that makes kcheck show its line. Values that look like ordinary ones are not included: a
password under a name that says nothing of it, as a positional argument, as a key of a map or label; values of one or two characters
in messages; and the lengths of values, which asterisks show.
"""

from __future__ import annotations

import json

SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME}\n"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n"
CUSTOM = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: NAME}\nspec:\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME}\nspec:\n  containers:\n  - name: c\n    image: nginx\n"
CONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://10.0.0.1'}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
users:
"""
ONE_LINE = json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "NAME"}, "data": {"password": "MARK"}, "foo": 1})
LISTED = '{"apiVersion":"v1","kind":"List","items":[' + ONE_LINE + "]}"
ANNOTATED = "apiVersion: v1\nkind: Service\nmetadata:\n  name: NAME\n  annotations:\n"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

PLACES = {
    # Secrets
    "data": f"{SECRET}data:\n  password: MARK #!\n",
    "data under a plain key": f"{SECRET}data:\n  shop: MARK #!\n",
    "stringData": f"{SECRET}stringData:\n  shop: MARK #!\n",
    "quoted": f'{SECRET}stringData:\n  shop: "MARK" #!\n',
    "single quotes": f"{SECRET}stringData:\n  shop: 'MARK' #!\n",
    "on the next line": f"{SECRET}stringData:\n  shop:\n    MARK #!\n",
    "block scalar": f"{SECRET}stringData:\n  a/b: |\n    MARK\n",
    "folded": f"{SECRET}stringData:\n  a/b: >-\n    x\n    MARK\n",
    "quoted over lines": f'{SECRET}stringData:\n  a/b: "x\n    MARK" #!\n',
    "flow": f"{SECRET}stringData: {{password: MARK, a/b: x}} #!\n",
    "beside an unknown field": f"{SECRET}data: {{p: MARK}}\nfoo: 1\nvale: x\n",
    "whole flow": "{apiVersion: v1, kind: Secret, metadata: {name: NAME_}, stringData: {p: MARK}, foo: 1} #!\n",
    "JSON": ONE_LINE,
    "JSON list": LISTED,
    "pretty JSON": json.dumps(json.loads(ONE_LINE), indent=2),
    "list":
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: NAME}\n  data: {p: MARK} #!\n  foo: 1\n",
    "SecretList": "apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {name: NAME_}\n  stringData: {p: MARK, p: MARK2} #!\n",
    "SecretList of whole objects":
        "apiVersion: v1\nkind: SecretList\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: NAME}\n"
        "  stringData:\n    q: MARK #!\n",
    "duplicate key": f"{SECRET}data:\n  p: MARK #!\n  p: MARK2 #!\n",
    "duplicate flow key": f"{SECRET}data: {{p: MARK, p: MARK2}} #!\n",
    "duplicate data": f"{SECRET}data:\n  p: MARK #!\ndata:\n  q: eA==\n",
    "misspelt field": f"{SECRET}stringdata:\n  p: MARK #!\n",
    "misspelt flow field": f"{SECRET}stringDatas: {{p: MARK}} #!\n",
    "wrong type": f"{SECRET}immutable: {{p: MARK}} #!\n",
    "number": f"{SECRET}stringData:\n  pin: 7700NUMBER #!\n",
    "text as data": f"{SECRET}stringData: MARK #!\n",
    "list as data": f"{SECRET}data: [MARK] #!\n",
    "equals for a colon": f"{SECRET}stringData: {{p=MARK}} #!\n",
    "alias": f"{SECRET}x: &p MARK #!\nstringData:\n  p: *p #!\n",
    "last applied": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: NAME_\n  annotations:\n"
                    f"    {LAST_APPLIED}: '{ONE_LINE}' #!\ndata: {{a/b: eA==}}\n",
    "TLS": f"{SECRET}type: kubernetes.io/tls\ndata: {{tls.key: MARK}} #!\n",
    "docker config": f"{SECRET}type: kubernetes.io/dockerconfigjson\nstringData:\n  .dockerconfigjson: '{{\"auths\": MARK}}' #!\n",
    "basic auth": f"{SECRET}type: kubernetes.io/basic-auth\nstringData: {{username: MARK}} #!\n",
    "CRLF": f"{SECRET}stringData:\n  a/b: MARK #!\n".replace("\n", "\r\n"),
    "embedded": f"{CUSTOM}  template:\n    stringData:\n      a: MARK #!\n",
    "embedded object": f"{CUSTOM}  template:\n    apiVersion: v1\n    kind: Secret\n    metadata: {{}}\n    data:\n      a: MARK #!\n",
    "behind the end": f"{POD}...\nkind: Secret\ndata:\n  shop: MARK\n",
    # Pods
    "variable": f"{POD}    env:\n    - name: DB_PASSWORD\n      value: MARK #!\n",
    "flow variable": f"{POD}    env:\n    - {{name: DB_PASSWORD, value: MARK, vale: x}} #!\n",
    "value first": f"{POD}    env:\n    - value: MARK #!\n      name: DB_PASSWORD\n",
    "value on the next line": f"{POD}    env:\n    - name: DB_PASSWORD\n      value:\n        MARK #!\n",
    "variable twice": f"{POD}    env:\n    - name: DB_PASSWORD\n      value: MARK #!\n    - name: DB_PASSWORD\n      value: MARK2 #!\n",
    "hidden variable": f"{POD}    env: [{{name: A_TOKEN, value: MARK}}, {{name: A_TOKEN, value: MARK}}]\n",
    "weak name": f"{POD}    env:\n    - name: COOKIE_SALT\n      value: MARK #!\n",
    "argument": f"{POD}    args:\n    - --password=MARK #!\n",
    "argument behind a flag": f"{POD}    args:\n    - --password\n    - MARK #!\n",
    "flow arguments": f"{POD}    args: [--password, MARK, --token=MARK] #!\n",
    "list of words": f"{POD}    args:\n    - mysqladmin\n    - ping\n    - -pMARK #!\n",
    "positional password": f"{POD}    command:\n    - sh\n    - -c\n    - mc alias set a http://x b MARK #!\n",
    "command": f'{POD}    command: ["sh", "-c", "mysql -pMARK -e x"] #!\n',
    "script": f"{POD}    command:\n    - sh\n    - -c\n    - |\n      export DB_PASSWORD=MARK\n      curl http://web.shop.svc:81/?token=MARK\n",
    "probe header": f"{POD}    livenessProbe:\n      httpGet:\n        port: 80\n        httpHeaders:\n        - name: Authorization\n"
                    "          value: Bearer MARK #!\n",
    "URL": f"{POD}    env:\n    - name: DB\n      value: postgres://shop:MARK@db.shop.svc.cluster.local:5433/x #!\n",
    "URL with a slash": f"{POD}    env:\n    - name: DB\n      value: postgres://shop:a/MARK@db.shop.svc.cluster.local:5433/x #!\n",
    "URL in arguments": f'{POD}    args: ["--url=http://u:MARK@web.shop.svc:81/"]\n',
    "URL in an image": POD.replace("image: nginx", "image: https://bob:MARK@registry.example.com/x:1"),
    "user in a URL": POD.replace("image: nginx", "image: https://MARK@registry.example.com/x:1"),
    "URL in a field of its own": f"{POD}    workingDir: https://u:MARK@git.example.com #!\n    vale: http://u:MARK@x\n",
    "field that does not belong": f"{POD}    password: MARK #!\n",
    # ConfigMaps
    "entry": f"{MAP}data:\n  db-password: MARK #!\n",
    "flow entry": f"{MAP}data: {{db-password: MARK, a/b: x}} #!\n",
    "entry twice": f"{MAP}data:\n  db-password: MARK #!\n  db-password: MARK2 #!\n",
    "settings": f"{MAP}data:\n  a.conf: |\n    password = MARK\n    url: jdbc:mysql://u:MARK@db.shop.svc:3306/x?password=MARK\n",
    "JSON settings": f"{MAP}data:\n  a/b: '{{\"password\": \"MARK\"}}' #!\n",
    "registry login": f"{MAP}data:\n  a/b: '{{\"auths\": {{\"x\": {{\"auth\": \"LOGIN\"}}}}}}' #!\n",
    "token": f"{MAP}data:\n  a/b: ghp_MARKa1B2c3D4e5F6g7H8i9J0 #!\n",
    "connection": f"{MAP}data:\n  a/b: Server=db;User Id=shop;Password=MARK; #!\n",
    "private key": f"{MAP}data:\n  a/b: |\n    -----BEGIN RSA PRIVATE KEY-----\n"
                   "    MARKMIIEowIBAAKCAQEAx7Jx2mQ9vB4tR8wZ1nY6k3Lp5sD0fGhJqWeRtYuIoPaSdF\n",
    # Annotations and custom resources
    "annotation": f"{ANNOTATED}    example.com/api-token: MARK #!\n",
    "URL in an annotation": f"{ANNOTATED}    meta.helm.sh/repository: https://u:MARK@charts.example.com #!\n",
    "JSON in an annotation": f"{ANNOTATED}    a/b: '{{\"password\":\"MARK\"}}' #!\n",
    "custom password": f"{CUSTOM}  password: MARK #!\n",
    "custom flow password": f"{CUSTOM}  auth: {{user: x, password: MARK}} #!\n",
    "custom parameter": f"{CUSTOM}  params:\n  - name: password\n    value: MARK #!\n",
    "repository": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: NAME}\nspec:\n  destination: {server: 'https://u:MARK@k'}\n"
                  "  source:\n    repoURL: https://u:MARK@git.example.com/x.git #!\n    path: nowhere\n",
    # Kubeconfigs
    "kubeconfig token": f"{CONFIG}- name: u\n  user:\n    token: MARK #!\n    vale: x\n",
    "kubeconfig flow": f"{CONFIG}- {{name: u, user: {{username: x, password: MARK, vale: x}}}} #!\n",
    "kubeconfig key": f"{CONFIG}- name: u\n  user:\n    client-key-data: MARK #!\n",
    "kubeconfig provider":
        f"{CONFIG}- name: u\n  user:\n    auth-provider:\n      name: oidc\n      config:\n        refresh-token: MARK #!\n",
    "kubeconfig server": f"{CONFIG}- name: u\n  user: {{}}\n".replace("https://10", "https://u:MARK@10"),
    # Documents that do not parse
    "broken": f"{SECRET}stringData:\n  shop: MARK: x\n",
    "broken quote": f'{SECRET}stringData:\n  shop: "MARK" x\n',
    "broken flow": f"{SECRET}stringData: {{a: MARK: x, b: [}}\n",
    "broken JSON": ONE_LINE[:-9],
    "broken kubeconfig": f"{CONFIG}- name: u\n  user:\n    token: MARK: x\n",
    "broken password": "apiVersion: v1\nkind: Pod\nspec:\n  password: MARK: x\n",
    "broken URL": "apiVersion: v1\nkind: Pod\nspec:\n  url: https://u:MARK@x: y\n",
    # kustomize
    "secretGenerator": "secretGenerator:\n- name: NAME\n  literals:\n  - shop=MARK #!\nresources: [nothing-here.yaml]\n",
    "kustomize URL": "resources:\n- nothing/https://u:MARK@git.example.com/x.yaml #!\n",
}  # fmt: skip
