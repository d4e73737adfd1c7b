{{- define "controller.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- else -}}{{ printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "controller.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "controller.labels" -}}
{{ include "controller.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- /* Settings of the controller; values of `settings` come over them. */ -}}
{{- define "controller.settings" -}}
controllerName: {{ .Values.controllerName }}
owner: {{ include "controller.fullname" . }}
{{- if .Values.service }}
service: {{ .Values.service }}
{{- else }}
addressPool: {{ .Values.addressPool }}
{{- end }}
endpoints: {{ .Values.endpoints }}
sluice:
  urls:
    {{- toYaml .Values.sluice.urls | nindent 4 }}
  {{- if .Values.sluice.keySecret.name }}
  apiKey: ${SLUICE_API_KEY}
  {{- end }}
  {{- if .Values.sluice.caSecret.name }}
  tls: { ca: /etc/sluice-controller-ca/{{ .Values.sluice.caSecret.key }} }
  {{- end }}
leaderElection: { name: {{ include "controller.fullname" . }} }
admin: { address: ":9902" }
log: { format: json }
{{- end -}}
