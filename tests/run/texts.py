"""Small manifests for tests of runs: a pod, one with a mistake, a definition, and an object of it that it refuses."""

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: 'b:1'}]}\n"
TYPO = POD.replace("image:", "imagePullpolicy: Always, image:")
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
"""
THING = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: big}\n"
