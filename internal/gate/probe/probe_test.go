package probe_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/journal"
	"interlock/internal/gate/probe"
	"interlock/internal/labsim"
	"interlock/internal/site"
)

// The test binary is the child process of the simulated sandbox as well.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "sandbox" {
		if err := labsim.SandboxMain(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

var digest = "sha256:" + strings.Repeat("7c", 32)

func declared() site.Sandbox {
	return site.Sandbox{Name: "sbx", Present: true, Operable: true, Routed: true, ImageDigest: digest, Egress: "none", Writable: []string{labsim.Scratch}}
}

// answering is an address of this machine that answers.
func answering(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	return ln.Addr().String()
}

func sandbox(t *testing.T) *labsim.Sandbox {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := labsim.NewSandbox(t.TempDir(), digest, self, "sandbox")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheProbeFindsWhatIsNotAsDeclared(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(*labsim.Sandbox, *probe.Spec)
		want  string // name of the first check that fails; "" for none
	}{
		"as declared":          {func(*labsim.Sandbox, *probe.Spec) {}, ""},
		"another image":        {func(s *labsim.Sandbox, _ *probe.Spec) { _ = s.SetDigest("sha256:" + strings.Repeat("00", 32)) }, "image"},
		"no digest inside":     {func(_ *labsim.Sandbox, p *probe.Spec) { p.Digest = "/nowhere" }, "image"},
		"no digest declared":   {func(_ *labsim.Sandbox, p *probe.Spec) { p.Declared.ImageDigest = "" }, "image"},
		"egress":               {func(s *labsim.Sandbox, _ *probe.Spec) { s.Egress = true }, "egress"},
		"nothing to reach":     {func(_ *labsim.Sandbox, p *probe.Spec) { p.Egress = []string{"127.0.0.1:1"} }, "egress"},
		"no address":           {func(_ *labsim.Sandbox, p *probe.Spec) { p.Egress = nil }, "egress"},
		"writes outside":       {func(s *labsim.Sandbox, _ *probe.Spec) { s.Writes = true }, "write /etc"},
		"no folder outside":    {func(_ *labsim.Sandbox, p *probe.Spec) { p.Outside = nil }, "write outside"},
		"a folder that is not": {func(_ *labsim.Sandbox, p *probe.Spec) { p.Outside = []string{"/nowhere"} }, "write /nowhere"},
		"scratch is closed":    {func(_ *labsim.Sandbox, p *probe.Spec) { p.Declared.Writable = []string{"/usr"} }, "write /usr"},
		"the program is gone":  {func(s *labsim.Sandbox, _ *probe.Spec) { s.Command = []string{"/nowhere/sandbox"} }, "run"},
		"a broken script":      {func(_ *labsim.Sandbox, p *probe.Spec) { p.Script = "explode" }, "run"},
		"a template that ends": {func(_ *labsim.Sandbox, p *probe.Spec) { p.Script = "{{" }, "script"},
		"an unknown language":  {func(_ *labsim.Sandbox, p *probe.Spec) { p.Script, p.Language = "", "cobol" }, "script"},
		"a script of little":   {func(_ *labsim.Sandbox, p *probe.Spec) { p.Script = "multiply nonce {{.A}} {{.B}}" }, "image"},
		"claims what it likes": {func(_ *labsim.Sandbox, p *probe.Spec) { p.Script += "print write /etc done" }, "write /etc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sandbox(t)
			spec := probe.Spec{Declared: declared(), Script: labsim.SandboxScript, Digest: labsim.DigestFile, Egress: []string{answering(t)}, Outside: []string{"/etc", "/usr"}}
			tc.spoil(s, &spec)
			res := probe.Run(t.Context(), spec, s.Run, time.Now)
			if res.OK() != (tc.want == "") || !strings.HasPrefix(res.Why(), tc.want) {
				t.Errorf("%q: %+v", res.Why(), res.Checks)
			}
		})
	}
}

// A sandbox that only repeats what it is given, or answers with what it has
// answered before, has not run anything.
func TestTheProbeIsNotFooledByAnEcho(t *testing.T) {
	t.Parallel()
	spec := probe.Spec{Declared: declared(), Language: "sh", Digest: labsim.DigestFile, Egress: []string{answering(t)}, Outside: []string{"/etc"}}
	earlier := ""
	for name, run := range map[string]probe.Runner{
		"an echo": func(_ context.Context, script string) (string, error) { return script, nil },
		"a replay": func(context.Context, string) (string, error) {
			return "nonce 4611686018427387904\ndigest " + digest, nil
		},
		"silence": func(context.Context, string) (string, error) { return earlier, nil },
	} {
		if res := probe.Run(t.Context(), spec, run, time.Now); res.OK() || !strings.HasPrefix(res.Why(), "nonce") {
			t.Errorf("%s: %q", name, res.Why())
		}
	}
}

// Run on this machine itself the scripts must say that it is no sandbox: they
// really connect and really write.
func TestScriptsFindThatThisMachineIsNoSandbox(t *testing.T) {
	t.Parallel()
	for language, program := range map[string]string{"sh": "sh", "python": "python3"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			at, err := exec.LookPath(program)
			if err != nil {
				t.Skip(program + " is not here")
			}
			inside, outside, file := t.TempDir(), t.TempDir()+"/it's outside", t.TempDir()+"/digest"
			if err := errors.Join(os.Mkdir(outside, 0o700), os.WriteFile(file, []byte(digest), 0o600)); err != nil {
				t.Fatal(err)
			}
			spec := probe.Spec{Declared: declared(), Language: language, Digest: file, Egress: []string{answering(t)}, Outside: []string{outside, "/nowhere"}}
			spec.Declared.Writable = []string{inside}
			res := probe.Run(t.Context(), spec, func(ctx context.Context, script string) (string, error) {
				cmd := exec.CommandContext(ctx, at)
				cmd.Stdin = strings.NewReader(script)
				out, err := cmd.CombinedOutput()
				return string(out), err
			}, time.Now)
			var got []string
			for _, c := range res.Checks {
				got = append(got, fmt.Sprintf("%s %t", strings.Fields(c.Name)[0], c.OK))
			}
			// A machine whose sh has nothing to connect with fails there as well.
			if want := "nonce true, image true, egress false, write true, write false, write false"; strings.Join(got, ", ") != want {
				t.Errorf("%s\n%+v", strings.Join(got, ", "), res.Checks)
			}
			if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
				t.Errorf("the probe left %v behind: %v", left, err)
			}
		})
	}
}

// full is a journal that cannot be written.
type full struct{ journal.Memory }

func (*full) Append(context.Context, grant.Event) error { return errors.New("disk full") }

func TestAProbeConfirmsForAWhile(t *testing.T) {
	t.Parallel()
	s := sandbox(t)
	spec := probe.Spec{Declared: declared(), Script: labsim.SandboxScript, Digest: labsim.DigestFile, Egress: []string{answering(t)}, Outside: []string{"/etc"}}
	at := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	j := &journal.Memory{}
	open := func(spec probe.Spec, j grant.Journal) *probe.Keeper {
		k, err := probe.Open(t.Context(), spec, s.Run, 10*time.Minute, j, now)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	holds := func(k *probe.Keeper, want string) {
		t.Helper()
		if why, yes := k.Confirmed(); yes != (want == "") || !strings.Contains(why, want) {
			t.Errorf("confirmed %v, %q, want %q", yes, why, want)
		}
	}
	k := open(spec, j)
	holds(k, "not been probed")
	if res, err := k.Probe(t.Context()); err != nil || !res.OK() {
		t.Fatalf("%v %s", err, res.Why())
	}
	holds(k, "")
	holds(open(spec, j), "") // after a restart
	other := spec
	other.Declared.ImageDigest = "sha256:" + strings.Repeat("11", 32)
	holds(open(other, j), "not been probed") // the result was for another image
	at = at.Add(11 * time.Minute)
	holds(k, "older than 10m")
	s.Egress = true
	if _, err := k.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	holds(k, "can be reached from inside")
	s.Egress = false
	blind := open(spec, &full{})
	if _, err := blind.Probe(t.Context()); err == nil {
		t.Error("a result that is not recorded is no error")
	}
	holds(blind, "could not be recorded")
}

func TestAProbeThatHangsConfirmsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() }
		j := &journal.Memory{}
		k, err := probe.Open(t.Context(), probe.Spec{Declared: declared(), Language: "sh"}, hang, time.Hour, j, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		told := 0
		go func() { defer close(ended); k.Watch(ctx, time.Minute, func(probe.Result, error) { told++ }) }()
		time.Sleep(150 * time.Second)
		synctest.Wait()
		if why, yes := k.Confirmed(); yes || !strings.Contains(why, "could not be run") || told != 2 || len(j.Events()) != 3 {
			t.Errorf("%v %q, told %d times, %d records", yes, why, told, len(j.Events()))
		}
		cancel()
		<-ended
		if len(j.Events()) != 3 { // two results, one of them told to a person
			t.Error("the end of the gate is recorded as a failure of the sandbox")
		}
	})
}

// A person is told once of each way in which a sandbox is not as declared, not
// at each probe, and again when it comes back after a probe that passed. A stop
// is no news of the sandbox.
func TestAFailingProbeIsToldOnce(t *testing.T) {
	t.Parallel()
	s := sandbox(t)
	spec := probe.Spec{Declared: declared(), Script: labsim.SandboxScript, Digest: labsim.DigestFile, Egress: []string{answering(t)}, Outside: []string{"/etc"}}
	stopped := false
	run := func(ctx context.Context, script string) (string, error) {
		if stopped {
			return "", fmt.Errorf("%w: an emergency stop is in force", probe.ErrNotNow)
		}
		return s.Run(ctx, script)
	}
	j := &journal.Memory{}
	var k *probe.Keeper
	open := func() {
		var err error
		if k, err = probe.Open(t.Context(), spec, run, time.Hour, j, time.Now); err != nil {
			t.Fatal(err)
		}
	}
	open()
	told := func() (reasons []string) {
		for _, e := range j.Events() {
			if e.Kind == probe.KindFailed {
				reasons = append(reasons, e.Reason)
			}
		}
		return reasons
	}
	for _, step := range []struct {
		name    string
		change  func()
		told    int
		because string // in the last reason
	}{
		{"as declared", func() {}, 0, ""},
		{"a stop", func() { stopped = true }, 0, ""},
		{"after the stop", func() { stopped = false }, 0, ""},
		{"egress", func() { s.Egress = true }, 1, "can be reached from inside"},
		{"egress still", func() {}, 1, ""},
		{"a stop meanwhile", func() { stopped = true }, 1, ""},
		{"egress after it", func() { stopped = false }, 1, ""},
		{"after a restart", open, 1, ""},
		{"writes as well", func() { s.Writes = true }, 2, "write /etc"},
		{"mended", func() { s.Egress, s.Writes = false, false }, 2, ""},
		{"egress again", func() { s.Egress = true }, 3, "can be reached from inside"},
	} {
		step.change()
		if _, err := k.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := told()
		if len(got) != step.told || (step.because != "" && !strings.Contains(got[len(got)-1], step.because)) {
			t.Errorf("%s: told %q, want %d", step.name, got, step.told)
		}
	}
}
