package probe

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"text/template"
)

// An address is one to try from inside.
type address struct{ Text, Host, Port string }

// A task is what the template of a script is filled with.
type task struct {
	A, B   uint64 // factors of the number the script computes
	Digest string // file with the image digest
	Egress []address
	Write  []string // folders to try to write into
	File   string   // name of the file it tries to make there
}

// scripts are the probes in languages that sandboxes commonly run. They print
// what parse reads.
var scripts = map[string]string{"python": pythonScript, "sh": shScript}

const pythonScript = `import os, socket
print("nonce", {{.A}} * {{.B}})
try:
    print("digest", open({{json .Digest}}).read().strip())
except OSError:
    print("digest")
{{range .Egress}}try:
    socket.create_connection(({{json .Host}}, {{.Port}}), 3).close()
    print("egress", {{json .Text}}, "open")
except OSError:
    print("egress", {{json .Text}}, "closed")
{{end}}for d in {{json .Write}}:
    p = os.path.join(d, {{json .File}})
    if not os.path.isdir(d):
        print("write", d, "absent")
        continue
    try:
        open(p, "w").close()
        print("write", d, "done")
    except OSError:
        print("write", d, "refused")
        continue
    os.remove(p)
`

// The shell itself has nothing to connect with: python3 or bash must be there,
// and only an answer that is a failed connection counts as one.
const shScript = `echo "nonce $(({{.A}} * {{.B}}))"
echo "digest $(cat {{sh .Digest}} 2>/dev/null)"
interlock_connect() {
  if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import socket, sys
try: socket.create_connection((sys.argv[1], int(sys.argv[2])), 3).close()
except OSError: sys.exit(7)' "$1" "$2" >/dev/null 2>&1
    case $? in 0) echo open ;; 7) echo closed ;; *) echo untried ;; esac
  elif command -v bash >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1; then
    said=$(timeout 3 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>&1)
    case "$?:$said" in 0:*) echo open ;; 124:* | *efused* | *nreachable* | *imed\ out* | *ermission*) echo closed ;; *) echo untried ;; esac
  else
    echo untried
  fi
}
{{range .Egress}}echo {{sh (print "egress " .Text)}} "$(interlock_connect {{sh .Host}} {{.Port}})"
{{end}}{{$file := .File}}{{range .Write}}if [ ! -d {{sh .}} ]; then echo {{sh (print "write " .)}} absent
elif (: >{{sh (print . "/" $file)}}) 2>/dev/null; then echo {{sh (print "write " .)}} done; rm -f {{sh (print . "/" $file)}}
else echo {{sh (print "write " .)}} refused; fi
{{end}}`

// render writes the script of a probe.
func render(s Spec, a, b uint64) (string, error) {
	text := s.Script
	if text == "" {
		var known bool
		if text, known = scripts[s.Language]; !known {
			return "", fmt.Errorf("no script for the language %q: expected python or sh, or a script of your own", s.Language)
		}
	}
	t, err := template.New("script").Option("missingkey=error").Funcs(template.FuncMap{"json": jsonText, "sh": shText}).Parse(text)
	if err != nil {
		return "", fmt.Errorf("reading the script of the probe: %w", err)
	}
	in := task{A: a, B: b, Digest: s.Digest, File: fmt.Sprintf("interlock-probe-%d", a)}
	in.Write = append(append(in.Write, s.Declared.Writable...), s.Outside...)
	for _, text := range s.Egress {
		host, port, err := net.SplitHostPort(text)
		if err != nil {
			return "", fmt.Errorf("address %q: expected HOST:PORT: %w", text, err)
		}
		in.Egress = append(in.Egress, address{text, host, port})
	}
	var out strings.Builder
	if err := t.Execute(&out, in); err != nil {
		return "", fmt.Errorf("writing the script of the probe: %w", err)
	}
	return out.String(), nil
}

// jsonText writes a value as JSON, which Python reads as its own.
func jsonText(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// shText quotes a text for a POSIX shell.
func shText(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
