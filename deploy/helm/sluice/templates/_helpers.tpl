{{- define "sluice.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- else -}}{{ printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "sluice.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "sluice.secret" -}}
{{ .Values.auth.existingSecret | default (printf "%s-keys" (include "sluice.fullname" .)) }}
{{- end -}}

{{- /* Host of a node by its number: [root, number]. */ -}}
{{- define "sluice.nodeHost" -}}
{{- $root := index . 0 -}}
{{- $name := include "sluice.fullname" $root -}}
{{ $name }}-{{ index . 1 }}.{{ $name }}-peers.{{ $root.Release.Namespace }}.svc
{{- end -}}

{{- define "sluice.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "sluice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- /* An environment variable of a key of the secret: [root, variable, key]. */ -}}
{{- define "sluice.keyVariable" -}}
- name: {{ index . 1 }}
  valueFrom:
    secretKeyRef: { name: {{ include "sluice.secret" (index . 0) }}, key: {{ index . 2 }} }
{{- end -}}

{{- define "sluice.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: {{ . }} }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: {{ . }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: {{ . }} }
  periodSeconds: 3
  timeoutSeconds: 3
{{- end -}}

{{- define "sluice.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "sluice.selector" (index . 0) | nindent 8 }}
        app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- /* Peers of a NetworkPolicy: pods of this release by component, [root, component]. */ -}}
{{- define "sluice.pods" -}}
- podSelector:
    matchLabels:
      {{- include "sluice.selector" (index . 0) | nindent 6 }}
      app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}
