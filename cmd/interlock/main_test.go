package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

// The transcripts run the real main: flags, streams and exit codes as users
// have them.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"interlock": main})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "data"))
			e.Setenv("NO_COLOR", "1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exitcode": exitCodeIs, "decisionid": decisionID},
	})
}

// exitCodeIs runs a command and compares its exit code: the contract has more
// codes than success and failure. Usage: exitcode N command args…
func exitCodeIs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N command args…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = exitOf(err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// decisionID puts the decision_id of a check --json output into DECISION.
func decisionID(ts *testscript.TestScript, neg bool, args []string) {
	var w struct {
		DecisionID string `json:"decision_id"`
	}
	if neg || len(args) != 1 {
		ts.Fatalf("usage: decisionid file")
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &w))
	ts.Setenv("DECISION", w.DecisionID)
}

func exitOf(err error) string {
	type coder interface{ ExitCode() int }
	if c, ok := err.(coder); ok {
		return strconv.Itoa(c.ExitCode())
	}
	return err.Error()
}

func TestExamplesArePlans(t *testing.T) {
	t.Parallel()
	plans, names, err := demoPlans()
	if err != nil {
		t.Fatal(err)
	}
	if len(plans) < 12 || len(plans) != len(names) {
		t.Errorf("%d plans, %d names; want at least a dozen", len(plans), len(names))
	}
	if _, err := os.Stat("../../examples/sites/sites.yaml"); err != nil {
		t.Error(err)
	}
}
