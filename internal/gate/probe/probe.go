// Package probe shows that a sandbox is what the site's profile declares. It
// runs a small script inside and holds what comes back against the
// declaration: the script really ran, the image is the pinned one, the network
// cannot be reached, and nothing outside the writable paths can be written.
// Without it these facts are words in a file; with it they are confirmed, for a
// while.
//
// A check counts only if it could have failed: an address must answer from
// here before it counts that it does not answer from inside, and a folder must
// exist inside before it counts that it cannot be written.
package probe

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/site"
)

// A Runner runs a script in the sandbox and returns what it wrote.
type Runner func(ctx context.Context, script string) (output string, err error)

// A Spec is what a probe looks for.
type Spec struct {
	Declared site.Sandbox // what must hold
	Language string       // "sh" or "python"; "" with a script of one's own
	Script   string       // template of the script; "" for that of the language
	Digest   string       // file inside that holds the image digest
	Egress   []string     // HOST:PORT that answer from here and must not from inside
	Outside  []string     // folders inside that must not be writable
}

// A Check is one thing a probe looked at.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// A Result is the outcome of one probe.
type Result struct {
	Sandbox string    `json:"sandbox"` // name and digest that were declared
	Digest  string    `json:"digest"`
	At      time.Time `json:"at"` // when it began
	Checks  []Check   `json:"checks"`

	notNow bool // the runner may not run anything now
}

// OK reports whether every check passed. No check is no pass.
func (r Result) OK() bool {
	return len(r.Checks) > 0 && !slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.OK })
}

// Why gives the first check that failed, "" if none has.
func (r Result) Why() string {
	for _, c := range r.Checks {
		if !c.OK {
			return c.Name + ": " + c.Detail
		}
	}
	return ""
}

// dialTimeout bounds a connection that is tried from here.
const dialTimeout = 3 * time.Second

// Run probes once. Whatever could not be looked at has failed.
func Run(ctx context.Context, spec Spec, run Runner, now func() time.Time) Result {
	res := Result{Sandbox: spec.Declared.Name, Digest: spec.Declared.ImageDigest, At: now()}
	add := func(name string, ok bool, format string, args ...any) {
		res.Checks = append(res.Checks, Check{name, ok, fmt.Sprintf(format, args...)})
	}
	a, b := factor(), factor()
	script, err := render(spec, a, b)
	if err != nil {
		add("script", false, "%v", err)
		return res
	}
	output, err := run(ctx, script)
	if err != nil {
		add("run", false, "the script could not be run: %v", err)
		res.notNow = errors.Is(err, ErrNotNow)
		return res
	}
	said := parse(output)
	want := strconv.FormatUint(a*b, 10)
	if !said.is("nonce", want) {
		add("nonce", false, "the script did not run: it computes a number that did not come back")
		return res // nothing else that came back means anything
	}
	add("nonce", true, "the script ran inside")
	spec.image(said, add)
	spec.egress(ctx, said, add)
	spec.writes(said, add)
	return res
}

// factor returns a random number of 31 bits. The product of two is not in the
// script, so that whoever only repeats the script is found out.
func factor() uint64 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand aborts the program instead
	return uint64(binary.BigEndian.Uint32(b[:])>>1) | 1<<30
}

type adder func(name string, ok bool, format string, args ...any)

func (s Spec) image(said answers, add adder) {
	switch want := s.Declared.ImageDigest; {
	case want == "":
		add("image", false, "the profile declares no image digest")
	case said.is("digest", want):
		add("image", true, "%s, as declared", want)
	case len(said["digest"]) == 0 || said.is("digest", ""):
		add("image", false, "no digest can be read inside from %s", s.Digest)
	default:
		add("image", false, "the digest inside is %.80q, declared is %s", strings.Join(said["digest"], " "), want)
	}
}

func (s Spec) egress(ctx context.Context, said answers, add adder) {
	if len(s.Egress) == 0 {
		add("egress", false, "no address is configured to try")
	}
	for _, address := range s.Egress {
		name := "egress " + address
		conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", address)
		if err != nil {
			add(name, false, "nothing answers there from here, so that nothing answers from inside shows nothing: %v", err)
			continue
		}
		_ = conn.Close()
		switch {
		case said.is("egress "+address, "closed"):
			add(name, true, "answers from here, cannot be reached from inside")
		case slices.Contains(said["egress "+address], "open"):
			add(name, false, "can be reached from inside")
		default:
			add(name, false, "could not be tried from inside: the sandbox has nothing to connect with")
		}
	}
}

func (s Spec) writes(said answers, add adder) {
	for _, dir := range s.Declared.Writable {
		ok := said.is("write "+dir, "done")
		add("write "+dir, ok, "%s", map[bool]string{true: "possible, as declared", false: "not possible, though declared writable: that other writes fail shows nothing"}[ok])
	}
	if len(s.Outside) == 0 {
		add("write outside", false, "no folder is configured to try")
	}
	for _, dir := range s.Outside {
		name := "write " + dir
		switch {
		case said.is(name, "refused"):
			add(name, true, "refused")
		case slices.Contains(said[name], "done"):
			add(name, false, "possible, though not declared writable")
		default:
			add(name, false, "could not be tried: there is no such folder inside")
		}
	}
}

// answers are what the script said, by what it speaks of. What it said twice
// stands twice.
type answers map[string][]string

// is reports whether the script said one thing of a subject and nothing else.
func (a answers) is(subject, value string) bool {
	return len(a[subject]) == 1 && a[subject][0] == value
}

// parse reads "nonce N", "digest D", "egress HOST:PORT WORD" and "write FOLDER
// WORD", one a line; other lines are not ours.
func parse(output string) answers {
	said := answers{}
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		subject, value, _ := strings.Cut(line, " ")
		if subject == "egress" || subject == "write" {
			i := strings.LastIndexByte(line, ' ')
			if i < 0 {
				continue
			}
			subject, value = line[:i], line[i+1:]
		}
		said[subject] = append(said[subject], strings.TrimSpace(value))
	}
	return said
}
