package labsim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Sandbox is the laboratory's place for code, simulated: every script runs in
// a child process of its own that knows five commands and sees a small tree of
// files with one writable folder, /scratch. It confines only because these
// commands can do no more. It is no container and protects nothing; it is here
// for the gate's probe to have something to look at, and its switches for the
// probe to have something to find.
type Sandbox struct {
	Command []string // starts the child, which calls SandboxMain
	Root    string   // folder that holds the tree; NewSandbox fills it
	Egress  bool     // misbehave: connections to elsewhere are made
	Writes  bool     // misbehave: every folder can be written
}

// The folder that scripts may write, and the file with the image's digest.
const (
	Scratch    = "/scratch"
	DigestFile = "/etc/image-digest"
)

// SandboxScript is a probe of the gate in the language of the sandbox.
const SandboxScript = `multiply nonce {{.A}} {{.B}}
cat digest {{.Digest}}
{{range .Egress}}connect {{.Text}}
{{end}}{{range .Write}}touch {{.}} {{$.File}}
{{end}}`

// NewSandbox makes a sandbox in an empty folder.
func NewSandbox(root, digest string, command ...string) (*Sandbox, error) {
	for _, dir := range []string{Scratch, path.Dir(DigestFile), "/usr"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			return nil, fmt.Errorf("making the sandbox: %w", err)
		}
	}
	s := &Sandbox{Command: command, Root: root}
	return s, s.SetDigest(digest)
}

// SetDigest puts another image into the sandbox, as far as can be seen inside.
func (s *Sandbox) SetDigest(digest string) error {
	if err := os.WriteFile(filepath.Join(s.Root, DigestFile), []byte(digest+"\n"), 0o600); err != nil {
		return fmt.Errorf("making the sandbox: %w", err)
	}
	return nil
}

// A sandboxJob is what the child is told.
type sandboxJob struct {
	Root   string
	Egress bool
	Writes bool
	Script string
}

// Run runs a script in a child process and returns what it wrote.
func (s *Sandbox) Run(ctx context.Context, script string) (string, error) {
	if len(s.Command) == 0 {
		return "", errors.New("the sandbox has no program to run scripts")
	}
	job, err := json.Marshal(sandboxJob{s.Root, s.Egress, s.Writes, script})
	if err != nil {
		return "", fmt.Errorf("running a script: %w", err)
	}
	cmd := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...) //nolint:gosec // this program itself
	cmd.Stdin = bytes.NewReader(job)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running a script: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return string(out), nil
}

// SandboxMain is the child process: it runs the one script it is given.
func SandboxMain(in io.Reader, out io.Writer) error {
	var job sandboxJob
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return fmt.Errorf("reading the script: %w", err)
	}
	root, err := os.OpenRoot(job.Root)
	if err != nil {
		return fmt.Errorf("opening the sandbox: %w", err)
	}
	defer func() { _ = root.Close() }()
	for line := range strings.Lines(job.Script) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		said, err := job.command(root, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f[0], err)
		}
		fmt.Fprintln(out, said)
	}
	return nil
}

// command runs one line: print TEXT | multiply NAME A B | cat NAME FILE |
// connect HOST:PORT | touch FOLDER FILE.
func (j sandboxJob) command(root *os.Root, f []string) (string, error) {
	switch {
	case f[0] == "print":
		return strings.Join(f[1:], " "), nil
	case f[0] == "multiply" && len(f) == 4:
		a, errA := strconv.ParseUint(f[2], 10, 64)
		b, errB := strconv.ParseUint(f[3], 10, 64)
		return f[1] + " " + strconv.FormatUint(a*b, 10), errors.Join(errA, errB)
	case f[0] == "cat" && len(f) == 3:
		text, err := root.ReadFile(inside(f[2]))
		if err != nil {
			return f[1], nil
		}
		return f[1] + " " + strings.TrimSpace(string(text)), nil
	case f[0] == "connect" && len(f) == 2:
		return "egress " + f[1] + " " + j.connect(f[1]), nil
	case f[0] == "touch" && len(f) == 3:
		return "write " + f[1] + " " + j.touch(root, f[1], f[2]), nil
	default:
		return "", errors.New("no such command: expected print, multiply, cat, connect or touch with their words")
	}
}

func inside(name string) string { return path.Join(".", path.Clean("/"+name)) }

func (j sandboxJob) connect(address string) string {
	if !j.Egress {
		return "closed"
	}
	conn, err := net.DialTimeout("tcp", address, 2*time.Second) //nolint:noctx // the child ends with its script
	if err != nil {
		return "closed"
	}
	_ = conn.Close()
	return "open"
}

func (j sandboxJob) touch(root *os.Root, dir, name string) string {
	if info, err := root.Stat(inside(dir)); err != nil || !info.IsDir() {
		return "absent"
	}
	file := inside(path.Join(dir, name))
	if !j.Writes && path.Clean(dir) != Scratch {
		return "refused"
	}
	f, err := root.Create(file)
	if err != nil {
		return "refused"
	}
	_ = f.Close()
	_ = root.Remove(file)
	return "done"
}

// AddSandbox gives the laboratory the tool sandbox.exec.
func (l *Lab) AddSandbox(s *Sandbox) {
	type in struct {
		Script  string  `json:"script"`
		Timeout float64 `json:"timeout_s"`
	}
	type out struct {
		Output string `json:"output"`
	}
	mcp.AddTool(l.Server, &mcp.Tool{Name: "sandbox.exec", Description: "Run a script in the simulated sandbox: lines of print, multiply, cat, connect, touch."}, func(ctx context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, out, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(max(1, min(in.Timeout, 600))*float64(time.Second)))
		defer cancel()
		text, err := s.Run(ctx, in.Script)
		return nil, out{text}, err
	})
}
