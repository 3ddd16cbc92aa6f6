// Package prompt holds the words put to models: versioned files, the same for
// every judge (C9). A change of wording is a new version with a new digest, so
// that every decision names the words it was made with (C2). A site can add
// rules of its own; it cannot take away the frame.
package prompt

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"text/template"
)

// Version names the set of files in use.
const Version = "v1"

//go:embed v1
var files embed.FS

// A Text is a filled-in pair of prompts.
type Text struct {
	System string
	Prompt string
}

// A Judge fills the judges' prompts. Every field but Boundary is already
// rendered text and stands inside a block marked by Boundary.
type Judge struct {
	Boundary  string
	Profile   string
	Submitter string
	Plan      string
	Findings  string
	Facts     string
	Evidence  string
	Claims    string
	Extra     string // rules that the site adds, "" none
}

// A Chief fills the chief's prompts.
type Chief struct {
	Boundary string
	N        int
	Opinions string
}

// A Set is the prompts of one version, ready to fill.
type Set struct {
	digest      string
	judge       [2]*template.Template // system, evaluation
	chief       [2]*template.Template
	judgeSchema []byte
	chiefSchema []byte
}

var names = []string{"system.md", "evaluation.md", "chief_system.md", "chief.md", "judge.schema.json", "chief.schema.json"}

// Load reads the embedded files.
func Load() (*Set, error) {
	h := sha256.New()
	data := map[string][]byte{}
	for _, n := range names {
		b, err := files.ReadFile(Version + "/" + n)
		if err != nil {
			return nil, fmt.Errorf("reading prompt %s: %w", n, err)
		}
		data[n] = b
		fmt.Fprintf(h, "%s %d\n", n, len(b))
		h.Write(b)
	}
	s := &Set{judgeSchema: data["judge.schema.json"], chiefSchema: data["chief.schema.json"], digest: hex.EncodeToString(h.Sum(nil))}
	for _, t := range []struct {
		dst  **template.Template
		name string
	}{
		{&s.judge[0], "system.md"},
		{&s.judge[1], "evaluation.md"},
		{&s.chief[0], "chief_system.md"},
		{&s.chief[1], "chief.md"},
	} {
		parsed, err := template.New(t.name).Option("missingkey=error").Parse(string(data[t.name]))
		if err != nil {
			return nil, fmt.Errorf("parsing prompt %s: %w", t.name, err)
		}
		*t.dst = parsed
	}
	return s, nil
}

// Digest is the SHA-256 over all files of the set, hex.
func (s *Set) Digest() string { return s.digest }

// JudgeSchema is the JSON schema of a judge's answer.
func (s *Set) JudgeSchema() []byte { return s.judgeSchema }

// ChiefSchema is the JSON schema of the chief's answer.
func (s *Set) ChiefSchema() []byte { return s.chiefSchema }

// Judge fills the judges' prompts.
func (s *Set) Judge(in Judge) (Text, error) { return fill(s.judge, in) }

// Chief fills the chief's prompts.
func (s *Set) Chief(in Chief) (Text, error) { return fill(s.chief, in) }

func fill(pair [2]*template.Template, in any) (Text, error) {
	var out [2]strings.Builder
	for i, t := range pair {
		if err := t.Execute(&out[i], in); err != nil {
			return Text{}, fmt.Errorf("filling prompt %s: %w", t.Name(), err)
		}
	}
	return Text{System: out[0].String(), Prompt: out[1].String()}, nil
}

// Show writes every file of the set as it stands, with its digest.
func (s *Set) Show(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "prompts %s, sha256 %s\n", Version, s.digest); err != nil {
		return fmt.Errorf("writing the prompts: %w", err)
	}
	for _, n := range names {
		b, err := files.ReadFile(Version + "/" + n)
		if err != nil {
			return fmt.Errorf("reading prompt %s: %w", n, err)
		}
		if _, err := fmt.Fprintf(w, "\n===== %s\n%s", n, b); err != nil {
			return fmt.Errorf("writing the prompts: %w", err)
		}
	}
	return nil
}
