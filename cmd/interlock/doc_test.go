package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const commandLineDoc = "../../docs/cli.md"

// TestCommandLineDoc keeps docs/cli.md what --help says. Rewrite it with
// go test ./cmd/interlock -run TestCommandLineDoc -update.
func TestCommandLineDoc(t *testing.T) {
	t.Parallel()
	var cmds commands
	parser, err := kong.New(&cmds, kong.Name("interlock"))
	if err != nil {
		t.Fatal(err)
	}
	var doc strings.Builder
	doc.WriteString("# Command line\n\nMade by `go test ./cmd/interlock -run TestCommandLineDoc -update`; do not edit.\n\n" +
		"Exit codes: 0 all accepted or done · 10 some escalated · 11 some rejected · 2 bad usage or input · 1 internal error or, for `doctor`, something would fail · 3 a record that was tampered with.\n")
	for _, leaf := range parser.Model.Leaves(true) {
		e, out := testEnv(t)
		e.Args = append(strings.Fields(leaf.Path()), "--help")
		e.Args = withoutArguments(e.Args)
		if code := run(e); code != exitOK {
			t.Errorf("%v exits %d", e.Args, code)
		}
		doc.WriteString("\n## interlock " + leaf.Path() + "\n\n```\n" + strings.TrimRight(out.String(), "\n ") + "\n```\n")
	}
	if *update {
		if err := os.WriteFile(commandLineDoc, []byte(doc.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(commandLineDoc)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, []byte(doc.String())) {
		t.Error("docs/cli.md is not what --help says: run go test ./cmd/interlock -run TestCommandLineDoc -update")
	}
}

// withoutArguments drops the placeholders of positional arguments from a path.
func withoutArguments(path []string) []string {
	var out []string
	for _, w := range path {
		if !strings.ContainsAny(w, "<>[]") && w != "..." {
			out = append(out, w)
		}
	}
	return out
}
